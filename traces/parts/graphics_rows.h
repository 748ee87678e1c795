#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/parts/part_reader.h"
#include "traces/parts/part_target.h"

namespace corun {

/// The numbers of the frames that are wanted, both included.
struct FrameRange {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;

  bool holds(std::uint64_t frame) const { return frame >= first && frame <= last; }
  bool is_all() const { return first <= 1 && last == UINT64_MAX; }
};

/// The rows of a part of GL or Vulkan: frames, and their visits as render operations with the calls that submitted
/// them.
///
/// | fact       | from                                                                                        |
/// |------------|---------------------------------------------------------------------------------------------|
/// | interval   | from the present before of the same swap chain; unknown behind a frame that is missing      |
/// | CPU busy   | from the return of the present before to this present, less waits and the tracer's own time |
/// | submission | the earliest visit's call                                                                   |
/// | GPU times  | first start, last end and union of the visits whose time is known                           |
class GraphicsRows {
 public:
  GraphicsRows(PartContent& part, PartTarget& target);

  /// Adds the rows. Once.
  void add(const FrameRange& wanted);

 private:
  using Visits = std::vector<const part::VisitRecord*>;

  void add_frame(const part::FrameRecord& frame, const part::FrameRecord* before);
  void add_visit(const part::VisitRecord& visit);
  std::uint32_t add_call(const part::VisitRecord& visit);
  void set_gpu_times(const part::FrameRecord& frame, FrameRecord& out);
  void add_draw(const part::DrawRecord& draw);
  std::uint32_t swapchain_of(std::uint32_t number);
  std::uint32_t queue_of(const part::VisitRecord& visit);
  void add_notes();

  PartContent& part_;
  PartTarget& target_;
  std::map<std::uint64_t, Visits> visits_of_;  // of each frame, in order of their GPU begin
  std::uint64_t frames_ = 0;
  std::uint64_t untimed_frames_ = 0;  // that have visits without a GPU time
  std::int64_t worst_error_ns_ = 0;
};

/// The stretch of time that the wanted frames of a part take: from the first submission to the last present or GPU end.
/// Widens `window`. Returns how many frames there are.
std::uint64_t include_frames(const PartContent& part, const FrameRange& wanted, Window& window);

}  // namespace corun

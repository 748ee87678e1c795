#pragma once

#include <cstdint>

#include "tracer/guest/part_file.h"

namespace corun::guest {

/// The frames of one library (GL or Vulkan) in one process: opens the part at the first frame, numbers frames, keeps
/// to the window asked for, closes the part a little after its end. GL contexts and Vulkan queues hand their visits and
/// presents here, GPU times already on CLOCK_MONOTONIC. Any thread.
class FrameLog {
 public:
  /// Reads the settings once; opens the part where the process is to record. False: leave everything as it is.
  bool start(part::Source source, std::uint32_t api_version);
  bool is_recording() const;

  /// Number of a frame that begins now: 1, 2, 3, ... over all swap chains of the part.
  std::uint64_t begin_frame();
  /// True while the frame and the instant are inside the window (--frames, --delay, --timed).
  bool wants(std::uint64_t frame, std::int64_t now_ns) const;

  std::uint32_t swapchain(const char* renderer, std::uint32_t width, std::uint32_t height, bool is_over_vulkan);
  std::uint32_t queue();  ///< a number for a queue or context

  void visit(const part::VisitRecord& visit);
  void draw(const part::DrawRecord& draw);  ///< of a frame that was wanted when it began
  void present(const part::FrameRecord& frame);
  void lost(part::LossReason reason, std::uint64_t count);
  void end(part::EndReason reason);

  PartFile& file() { return file_; }

 private:
  bool is_over(std::uint64_t frame, std::int64_t now_ns) const;

  Settings settings_{};
  PartFile file_;
  std::uint64_t frames_ = 0;
  std::uint32_t swapchains_ = 0;
  std::uint32_t queues_ = 0;
  bool is_started_ = false;
};

}  // namespace corun::guest

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/workload.h"
#include "traces/timeline.h"

namespace corun {

/// Where the GPU times of a log's frames come from.
enum class GpuTimeSource {
  kNone,      ///< the log does not bound them closely, and nothing was stated
  kMeasured,  ///< recorded
  kEnds,      ///< from when frames ended on the GPU: it worked without a break
  kStated,    ///< `gpu_busy_ratio` of the interval
  kLoad,      ///< the logged load of the GPU, of the interval; other programs' work is in it
};

/// Begins the note on frames whose GPU times are `gpu_busy_ratio` of the interval.
inline constexpr std::string_view kStatedGpuTimes = "warning: GPU times are ";

/// The frames of one swap chain, as far as their pace goes: in order, one entry for each in every column.
struct FrameLog {
  std::vector<FrameRecord> frames;  ///< CPU busy times that follow from presents and intervals are filled in
  SwapchainRecord chain;
  std::vector<std::int64_t> gpu_ns;  ///< -1 = not known
  GpuTimeSource source = GpuTimeSource::kNone;
  /// Least and most GPU time over frame time that the ends of the frames' GPU work leave open; nullopt = not recorded.
  struct Bounds {
    double least = 0, most = 1;
  };
  std::optional<Bounds> bounds;
  std::vector<std::string> notes;  ///< which of the capture's swap chains and runs these are

  /// GPU time over frame time, of frames that have both.
  double gpu_share() const;
  /// Whether frames count when the GPU has done them: presents run ahead of a GPU that is never idle, or its times are
  /// those from end to end.
  bool counts_ends() const;
  /// From frame to frame, by presents or ends; -1 = not known. The first frame follows one that is not in the log.
  std::vector<std::int64_t> times_ns() const;
  /// Of times_ns(), what a replay alone is compared with; nullopt where fewer than two frames have a time.
  std::optional<FrameFigures> figures() const;
  /// From one frame's end on the GPU to the next one's; nullopt where ends are not known.
  std::optional<FrameFigures> figures_by_ends() const;
  /// Whether the GPU took the same time for nine in ten frames, to 0.5 %: no scene that moves does, menus do. Not for
  /// GPU times that were not measured, or fewer than 100 frames.
  bool is_still() const;

 private:
  bool has_ends() const;
  std::vector<std::int64_t> end_times_ns() const;
};

/// Frames of the program that presents most, the desktop's compositor apart, in run `options.run` of those that the
/// file holds. The timeline has frames. Throws Error(kUnsupported) for a run that there is not, and for a stated
/// `gpu_busy_ratio` that the log excludes.
FrameLog frame_log(const Timeline& timeline, const WorkloadOptions& options);

/// Of times from frame to frame; those that are not above 0 do not count. nullopt where fewer than two are left.
std::optional<FrameFigures> figures_of(std::vector<std::int64_t> times_ns);

}  // namespace corun

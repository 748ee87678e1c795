#pragma once

#include <cstddef>
#include <vector>

namespace scene {

/// Figures of frames, defined as those of the same names in docs/metrics.md. Times are milliseconds; 0 where there are
/// no frames.
struct FrameFigures {
  std::size_t frames = 0;  ///< shown
  double fps_mean = 0;
  double fps_1low = 0;  ///< rate of the mean of the slowest 1 % of the frame times, at least one
  double frame_time_p50_ms = 0, frame_time_p99_ms = 0;
  double gpu_time_p50_ms = 0, gpu_time_p99_ms = 0;
};

/// The nearest rank: the least value that a fraction `share` of them does not exceed. 0 of none.
double quantile(std::vector<double> values, double share);

/// `shown_ms`: when each frame was shown; `gpu_ms`: GPU time of each.
FrameFigures figures_of(const std::vector<double>& shown_ms, const std::vector<double>& gpu_ms);

}  // namespace scene

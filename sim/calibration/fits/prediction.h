#pragma once

#include <cstdint>
#include <vector>

#include "sim/device/spec.h"
#include "traces/timeline.h"

namespace corun::calibration {

/// What one process of a trial does, as a device model sees it: the same job over and over.
struct Program {
  OpKind kind = OpKind::kKernel;
  std::vector<Duration> ops{};  ///< of one job, one after another, submitted together
  LaunchShape shape{};          ///< of kernels; unknown = fills the device
  std::size_t ahead = 1;        ///< jobs in flight
  Duration period{};            ///< between submissions of jobs at least; 0 = as fast as they end
  std::vector<Duration> at{};   ///< when its jobs are submitted, ascending; empty = as `ahead` and `period` allow
};

/// Of a spinning thread.
inline constexpr LaunchShape kOneThread{
    .grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 1, .block_y = 1, .block_z = 1};

/// What a program achieved in a simulated trial.
struct Progress {
  double jobs_per_s = 0.0;
  double device_share = 0.0;       ///< time in which it progressed, over all
  double job_ns = 0.0;             ///< mean from one job's end to the next one's; 0 = fewer than two ended
  std::vector<double> waits_ns{};  ///< from the submission of each job that ended to its start
  std::vector<double> takes_ns{};  ///< and to its end
};

/// Runs the programs on the model of a device for so long, without randomness: what that device would do to them.
std::vector<Progress> predict(const DeviceSpec& spec, const std::vector<Program>& programs, Duration length);

}  // namespace corun::calibration

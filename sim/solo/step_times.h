#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/serving/step_size.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// How an engine's captured steps were given their untraced times.
struct StepTimesFit {
  std::shared_ptr<const Workload> workload;
  std::vector<StepSize> unknown;       ///< captured sizes without a time: as captured
  std::vector<StepSize> out_of_reach;  ///< so far from their times that the log is hardly one of this engine
};

/// Gives each captured step of `engine` the time that a step of its size takes alone on `device` and untraced. A
/// recorder that notes the kernels of graphs delays their launches most, so host gaps and launch latencies of the steps
/// of a size are scaled first, down to a fiftieth; then device times, by what is left. Out of reach are device times
/// that would be less than 0.85, or host times more than three times those recorded. Times are from a step's begin on
/// the host to the next one's, > 0.
StepTimesFit fit_to_step_times(const ClientSpec& engine, const DeviceSpec& device,
                               const std::map<StepSize, Duration>& times);

}  // namespace corun

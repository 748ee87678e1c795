#pragma once

#include "sim/workload/capture/steps/whole_steps.h"

namespace corun {

/// Steps of a host that repeats itself exactly (find_repetition), by names; none where its rounds have no wait:
/// programs wait for what a step gave, but not for each of a network's equal layers.
WholeSteps exact_steps(const HostLog& log);

}  // namespace corun

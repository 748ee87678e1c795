#pragma once

#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// How far the rate of each client with a cap on its SMs may be from the figure, a warning each: between kernels that
/// the SMs bind, as the figure has them, and kernels that the memory binds. None for clients whose kernels were
/// captured with fewer SMs, nor where both ends are within 5 %, nor on devices that have no caps.
std::vector<std::string> sm_cap_ranges(const Scenario& scenario, const PolicyChoice& policy,
                                       const std::vector<ClientSpec>& clients);

}  // namespace corun

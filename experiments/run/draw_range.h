#pragma once

#include <string>
#include <vector>

#include "experiments/run/clients/client_builder.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// How much the frame rates of captured games hang on the length of their draws, where captures do not hold it: under
/// each policy, simulated with short draws and with one draw a frame. A warning for each such client that has others
/// to share with; the first seed, at most 5 simulated seconds.
std::vector<std::string> draw_ranges(const Scenario& scenario, ClientBuilder& builder, const PolicyRegistry& policies);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "sim/cluster/cluster.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// What to know of a policy's figures in a scenario, a sentence each: limits that do not hold for a client's kernels,
/// caps whose effect hangs on what binds kernels, turns that launches outlast. How its mechanism is known, basis_of()
/// says. `clients` are those of the scenario.
std::vector<std::string> policy_warnings(const Scenario& scenario, const PolicyChoice& policy,
                                         const std::vector<ClientSpec>& clients);

/// What to know of a cluster's figures that were estimated by mixes of pods.
std::vector<std::string> mix_warnings(const PolicyChoice& policy, const CardSharing& sharing, const MixUse& use);

}  // namespace corun

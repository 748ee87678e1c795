#pragma once

#include <vector>

#include "sim/policy/descriptor.h"

namespace corun {

/// The parameters of PilotFish, and those that its baselines and its variant of ours share with it.
ParameterDescriptor target_period_parameter(Duration default_value, std::string source);
ParameterDescriptor notify_poll_parameter(Duration default_value, std::string source);
ParameterDescriptor launch_retry_parameter(Duration default_value, std::string source);
ParameterDescriptor memory_fit_parameter();
std::vector<ParameterDescriptor> pilotfish_parameters();

inline constexpr char kPilotFishSource[] =
    "W. Zhang, B. Chen et al., \"PilotFish: harvesting free cycles of cloud gaming with deep learning training\", "
    "USENIX ATC 2022; artifact Chen-Binghao/PilotFish";

}  // namespace corun

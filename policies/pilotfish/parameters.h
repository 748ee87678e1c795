#pragma once

#include "sim/policy/descriptor.h"

namespace corun {

/// The parameters of PilotFish, and those that its baselines and its variant (absolute.cpp) share with it.
void add_target_period(ParameterTable& table, Duration default_value, std::string source);
void add_notify_poll(ParameterTable& table, Duration default_value, std::string source);
void add_launch_retry(ParameterTable& table, Duration default_value, std::string source);
void add_memory_fit(ParameterTable& table);
ParameterTable pilotfish_parameters();

/// A game's frame period in the artifact, taken where neither a parameter nor the game states one.
inline constexpr Duration kUsualPeriod = std::chrono::microseconds{16'600};

inline constexpr char kPilotFishSource[] =
    "W. Zhang, B. Chen et al., \"PilotFish: harvesting free cycles of cloud gaming with deep learning training\", "
    "USENIX ATC 2022; artifact Chen-Binghao/PilotFish";

}  // namespace corun

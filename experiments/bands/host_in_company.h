#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/question/experiment.h"

namespace corun {

/// How quick a host is at least in company, next to alone. What hosts do between a wait for the device and the next
/// launches took 0.6 to 3 times as long in company as in captures of the same programs, differently in each process; a
/// quarter of the pairs hangs on it, and what these kept lies between hosts as alone and hosts at this speed
/// (studies/captured-alone).
inline constexpr double kSlowerHost = 0.6;

/// Whether a program's host waits for the device, which works three quarters or more of the time that its steps take
/// alone. `kept`: what it keeps of its rate; `busy`: the part of the time in which the device works for it, both in
/// company. Of others, and of games, nothing is known.
bool waits_for_device(double kept, double busy);

/// The scenario under this policy alone, with hosts of kSlowerHost of programs whose host may be slower: replayed
/// captures of known rate, without frames, that wait for the device and do not state their host's speed. nullopt: none
/// may be, or something else than the driver's turns and MPS shares the device, in which nothing was measured of it.
/// `mean`: of a client's metric under that policy, with hosts as alone.
std::optional<Scenario> with_slower_hosts(
    const Scenario& scenario, const PolicyChoice& policy,
    const std::function<std::optional<double>(const std::string& client, std::string_view metric)>& mean);

}  // namespace corun

#pragma once

#include <optional>

#include "experiments/advise/figures/simulated_means.h"
#include "experiments/advise/question.h"

namespace corun {

/// How quick a host is at least in company, next to alone. What hosts do between a wait for the device and the next
/// launches took 0.6 to 3 times as long in company as in captures of the same programs, differently in each process; a
/// quarter of the pairs hangs on it, and what these kept lies between hosts as alone and hosts at this speed
/// (studies/captured-alone).
inline constexpr double kSlowerHost = 0.6;

/// The same question with hosts of that speed; nullopt: no program has one that may be slower. It may where the rate
/// alone is known, the device works three quarters or more of the time that its steps take alone, so that the host
/// waits for it, and neither the program's keys nor frames say how its host goes on. `simulated`: the way of sharing,
/// with hosts as alone.
std::optional<AdviceQuestion> with_slower_hosts(const AdviceQuestion& question, const SimulatedRuns& simulated);

/// Adds what slower hosts give to a way's bounds: rates alone stay those of hosts as alone.
void add_bound(SimulatedBounds& simulated, const SimulatedBounds& slower);

}  // namespace corun

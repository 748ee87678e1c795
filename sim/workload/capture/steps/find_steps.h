#pragma once

#include <cstddef>
#include <string>

#include "sim/workload/capture/steps/host_log.h"
#include "sim/workload/step_finding.h"

namespace corun {

/// Where a log's steps begin and end.
struct FoundSteps {
  Positions begins;     ///< of whole steps, each one's first launch; empty: none were found
  std::size_t end = 0;  ///< behind the last step's last event
  StepCertainty certainty = StepCertainty::kNone;
  std::string how;  ///< what shows them, or why there are none; a clause that ends "..., so that", or "no ..."
};

/// Finds the steps of a host that does the same over and over, though perhaps not quite the same.
///
/// 1. Exact repetition of launches and waits, closed by a wait (find_repetition).
/// 2. Else every launch, wait or long pause that recurs regularly is tried as a boundary. Stretches between boundaries
///    are compared by what is in them, and a step begins with the launch before which the host waits, or pauses
///    longest.
///    - Behind bursts of kernels that update a model's parameters a training step ends, whatever recurs within it.
///    - Of those closed by waits the shortest stretches that are alike are steps, unless stretches of fewer than eight
///      of them are more complete: equal layers do not show where a step ends, what is done once a step does.
///    - Where the host never waits, the stretches must explain everything that recurs, and the longest pauses of the
///      host must lie between them.
///
/// Steps that consist of equal rounds (equal_rounds) are unsure: each round may be one.
///
/// What comes before and after is left out: stretches unlike the typical one, first ones that took over twice as long
/// as most, and incomplete ones. An unlike stretch between others (an evaluation now and then) belongs to the step
/// before it. Linear in the events, for each of some dozens of candidates; the same log gives the same steps.
FoundSteps find_steps(const HostLog& log);

}  // namespace corun

#pragma once

#include "sim/workload/capture/steps/host_log.h"

namespace corun {

/// Steps that are whole: successive, the last one up to `end`.
struct WholeSteps {
  Positions begins;
  std::size_t end = 0;
};

/// Keeps whole steps of those that begin at `begins`, and adds those that were missed.
///
/// A stretch of several steps (the record of a boundary is missing) is divided. One without half of what a step does
/// (an evaluation now and then) becomes part of the step before. Stretches unlike a step are left out at the beginning;
/// a whole step before the first or behind the last begin is added.
WholeSteps whole_steps(const HostLog& log, const Positions& begins);

/// How many steps at the beginning are still start-up: over twice as long as most. Libraries are loaded, memory is
/// reserved. They are taken out of `begins` if that leaves at least two.
std::size_t drop_slow_starts(const HostLog& log, Positions& begins);

}  // namespace corun

#pragma once

#include <cstddef>

#include "sim/workload/capture/steps/host_log.h"

namespace corun {

/// What a step consists of where it is the same launches over and over.
struct EqualRounds {
  std::size_t count = 0;       ///< in a step, at least 2; 0: steps are no such rounds
  std::size_t operations = 0;  ///< of a round
  bool reads_back = false;     ///< besides, a step copies something to the host, and waits for it
};

/// The shortest rounds that at least half of the steps, those with the usual number of launches, consist of: the same
/// symbols in the same order, waits aside, each round launched by calls of its own. Nothing then shows whether the
/// program's step is one round, with a wait after every few, or all of them.
///
/// Rounds of which one has another shape or size than the one before it in nine steps of ten, always the same one, are
/// not equal: layers of a network, levels of a grid. Streams may take turns. Linear in the launches, for each divisor
/// of their number in a step.
EqualRounds equal_rounds(const HostLog& log, const Positions& begins, std::size_t end);

}  // namespace corun

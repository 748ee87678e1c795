#pragma once

#include <vector>

#include "sim/workload/capture/steps/host_log.h"

namespace corun {

/// Positions that may be one in each step.
struct Anchors {
  Positions at;
  long group = 0;              ///< equal for candidates with about as many recurrences
  bool closes_update = false;  ///< each comes behind a burst of kernels that update parameters
  bool are_begins = false;     ///< each is the launch that begins a step, if it is one
};

/// Candidates: what recurs most regularly over most of the log, for each number of recurrences.
///
/// A launch or wait of one kind recurs either each time it occurs or, where it comes in bursts (the layers of a step),
/// at the first of each burst; so do long pauses of the host. A burst ends at a distance that is at least three times
/// the next shorter one. O(n log n).
std::vector<Anchors> find_anchors(const HostLog& log);

}  // namespace corun

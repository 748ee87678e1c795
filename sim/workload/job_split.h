#pragma once

#include <cstdint>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// Instants (ns of the timeline) at which new jobs begin on the host, after the first; ascending.
///
/// By the capture's own marks, the first rule that finds two or more: PyTorch's "ProfilerStep#n"; ends of
/// "Optimizer.step#..."; any other repeated mark whose name speaks of a step, iteration, batch, request or forward.
/// Empty: the capture does not say, and is one job.
std::vector<std::int64_t> job_boundaries(const Timeline& timeline);

}  // namespace corun

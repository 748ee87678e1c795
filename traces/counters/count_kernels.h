#pragma once

#include <span>
#include <vector>

#include "traces/counters/ncu_csv.h"
#include "traces/timeline.h"

namespace corun {

/// Counters of the kernels of `timeline` (Timeline::set_counters) from launches that were counted in another run of its
/// program.
///
/// A kernel has the means of the launches with its name, as many blocks and as many threads a block. Its throughput of
/// DRAM is that while it takes as long as in the capture: counting leaves clocks to themselves, and they may be lower.
/// A report may write names in another way than captures: then launches count whose name without namespaces and
/// arguments is the same and which take as long, if all of them are within 10 % of the device's peak of their mean.
/// Kernels that no launch is like are left out.
std::vector<CounterRecord> count_kernels(const Timeline& timeline, std::span<const CountedLaunch> launches);

}  // namespace corun

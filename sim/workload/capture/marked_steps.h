#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/capture/steps/host_log.h"
#include "traces/timeline.h"

namespace corun {

/// Steps that ranges of a program delimit.
struct MarkedSteps {
  Positions begins;            ///< first event of each step; empty: no range does
  std::size_t end = 0;         ///< behind the last event of the last step
  std::string name;            ///< of the ranges, with # for numbers in it
  std::int64_t length_ns = 0;  ///< of a single step: its range's
};

/// Ranges that recur and are steps, the first of:
///
/// - PyTorch's "ProfilerStep#n"; the ends of its "Optimizer.step#...";
/// - a name that speaks of a step, iteration, batch or request, whose ranges hold half of the launches, or part the log
///   into stretches that are alike;
/// - any other name whose ranges hold four of five launches and part the log into stretches that explain everything
///   that recurs: ranges of layers inside a step do not;
/// - a single "ProfilerStep#n" that holds half of the launches: one step.
///
/// Names that differ in their numbers are one. Of several the one whose ranges hold most launches.
MarkedSteps find_marked_steps(const Timeline& timeline, const HostLog& log);

/// How many of the steps from `begins` to `end` hold the start of a graph capture: a program prepares itself there.
std::size_t steps_with_graph_capture(const Timeline& timeline, const HostLog& log, const Positions& begins,
                                     std::size_t end);

/// Names of ranges that recur, with # for numbers in them, and how often; the most frequent first.
std::vector<std::pair<std::string, std::uint64_t>> recurring_ranges(const Timeline& timeline, std::size_t most);

/// The steps that ranges of this name begin: as written, or with # for numbers. Empty where there are none.
MarkedSteps steps_of_ranges(const Timeline& timeline, const HostLog& log, std::string_view name);

}  // namespace corun

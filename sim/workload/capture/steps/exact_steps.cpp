#include "sim/workload/capture/steps/exact_steps.h"

#include <algorithm>
#include <optional>

#include "sim/workload/capture/steps/repetition.h"

namespace corun {

namespace {

/// Position inside the period of the launch that begins a step: of those before which the host waited for all its work,
/// or of all if it never did, the one before which it paused longest, in all, since the launch before. The first period
/// does not count: what came before it is not of the loop.
std::size_t phase_of_steps(const HostLog& log, const Repetition& repetition) {
  const std::size_t period = repetition.period;
  const std::size_t whole = (repetition.end - repetition.begin) / period * period;
  std::vector<std::pair<bool, std::int64_t>> pauses(period);  // whether it waited, and how long it took
  std::int64_t last_ns = 0;
  bool has_waited = false;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::size_t event = repetition.begin + i;
    if (!log.is_launch(event)) {
      has_waited |= log.whats[event] == HostLog::What::kWaitAll;
      continue;
    }
    auto& [waited, took] = pauses[i % period];
    if (i >= period) {
      waited |= has_waited;
      took += log.starts_ns[event] - last_ns;
    }
    last_ns = log.starts_ns[event];
    has_waited = false;
  }
  return static_cast<std::size_t>(std::ranges::max_element(pauses) - pauses.begin());
}

}  // namespace

WholeSteps exact_steps(const HostLog& log) {
  WholeSteps steps;
  const std::optional<Repetition> repetition = find_repetition(log.names);
  if (!repetition) return steps;
  std::size_t launches = 0;
  for (std::size_t i = 0; i < repetition->period; ++i) launches += log.is_launch(repetition->begin + i) ? 1 : 0;
  if (launches == 0 || launches == repetition->period) return steps;
  steps.end = repetition->begin + phase_of_steps(log, *repetition);
  for (; steps.end + repetition->period <= repetition->end; steps.end += repetition->period)
    steps.begins.push_back(static_cast<std::uint32_t>(steps.end));
  return steps;
}

}  // namespace corun

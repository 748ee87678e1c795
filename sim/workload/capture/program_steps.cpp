#include "sim/workload/program_steps.h"

#include <algorithm>

#include "sim/workload/capture/marked_steps.h"
#include "sim/workload/workload.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::size_t kMostRanges = 4;

template <class T>
T ranked(std::vector<T> values, double rank) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank * static_cast<double>(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, at);
  return *at;
}

void set_times(const Workload& workload, ProgramSteps& steps) {
  std::vector<std::uint32_t> operations;
  std::vector<Duration> device_times, lengths;
  for (std::size_t job = 0; job < workload.jobs.size(); ++job) {
    operations.push_back(workload.jobs[job].op_count);
    device_times.push_back(workload.device_time(workload.jobs[job]));
    if (job > 0) lengths.push_back(workload.jobs[job].recorded_start - workload.jobs[job - 1].recorded_start);
  }
  steps.operations = ranked(operations, 0.5);
  steps.fewest_operations = std::ranges::min(operations);
  steps.most_operations = std::ranges::max(operations);
  steps.device_time = ranked(device_times, 0.5);
  if (lengths.empty()) return;
  steps.usual = ranked(lengths, 0.5);
  steps.short_one = ranked(lengths, 0.1);
  steps.long_one = ranked(lengths, 0.9);
}

void set_steps(const Workload& workload, ProgramSteps& steps) {
  steps.finding = workload.finding;
  if (steps.finding.certainty == StepCertainty::kNone) {
    steps.unfit = "no steps were found: " + steps.finding.how;
    steps.remedy = kStepRemedies;
    return;
  }
  steps.count = workload.jobs.size();
  steps.mean = workload.recorded_step > Duration{} ? workload.recorded_step : workload.recorded_span;
  set_times(workload, steps);
}

}  // namespace

const char* const kStepRemedies =
    "say what a step is: `iterations: N` (equal parts), `step: { range: NAME }`, `step: { kernel: NAME }`, "
    "`step: { launches: N }`, or `step: whole` for one job";

ProgramSteps program_steps(const Timeline& timeline) {
  ProgramSteps steps;
  steps.ranges = recurring_ranges(timeline, kMostRanges);
  try {
    set_steps(workload_from_timeline(timeline, {}), steps);
  } catch (const Error& error) {
    WorkloadOptions lenient;
    lenient.allow_co_run = true;
    if (timeline.fidelity().co_run) set_steps(workload_from_timeline(timeline, lenient), steps);
    steps.unfit = error.message();
    steps.remedy = error.help();
  }
  return steps;
}

}  // namespace corun

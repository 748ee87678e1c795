#include "sim/workload/capture/steps/sized_steps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/workload/capture/steps/ranges.h"

namespace corun {

namespace {

std::vector<SizedStep> outermost_sized_ranges(const Timeline& timeline) {
  std::vector<SizedStep> ranges;
  for (const MarkRecord& mark : timeline.marks())
    if (const auto size = step_size_of(timeline.text(mark.name)))
      ranges.push_back({size, mark.start_ns, mark.start_ns + mark.duration_ns});
  return outermost(std::move(ranges));
}

void drop_steps_for_earlier_jobs(Workload& workload) {
  WorkSteps kept;
  kept.reserve(workload.steps.size());
  for (Job& job : workload.jobs) {
    const auto first = static_cast<std::uint32_t>(kept.size());
    Duration carried{};
    for (std::uint32_t i = 0; i < job.step_count; ++i) {
      HostStep step = workload.steps[job.first_step + i];
      step.gap += std::exchange(carried, Duration{});
      const bool is_earlier = step.kind == StepKind::kWaitOp && step.target < job.first_op;
      if (is_earlier)
        carried = step.gap;
      else
        kept.push_back(step);
    }
    job.first_step = first;
    job.step_count = static_cast<std::uint32_t>(kept.size()) - first;
  }
  workload.steps = std::move(kept);
}

void drop_awaits_of_earlier_jobs(Workload& workload) {
  std::vector<std::uint32_t> kept;
  WorkOps ops;
  ops.reserve(workload.ops.size());
  for (const Job& job : workload.jobs) {
    for (std::uint32_t index = job.first_op; index < job.first_op + job.op_count; ++index) {
      WorkOp op = workload.ops[index];
      const auto begin = static_cast<std::uint32_t>(kept.size());
      for (std::uint32_t i = op.awaits_begin; i < op.awaits_begin + op.awaits_count; ++i)
        if (workload.awaits[i] >= job.first_op) kept.push_back(workload.awaits[i]);
      op.awaits_begin = begin;
      op.awaits_count = static_cast<std::uint32_t>(kept.size()) - begin;
      ops.push_back(op);
    }
  }
  workload.ops = std::move(ops);
  workload.awaits = std::move(kept);
}

}  // namespace

namespace {

/// A step that takes much longer than others of its size prepared something, such as a graph that had to be loaded
/// first: it is no example of its size. Two examples do not tell which of them is usual.
void leave_out_slow(std::vector<SizedStep>& jobs) {
  constexpr double kSlow = 1.25;
  constexpr std::size_t kEnough = 3;
  std::map<StepSize, std::vector<std::int64_t>> lengths;
  for (const SizedStep& job : jobs)
    if (job.size) lengths[*job.size].push_back(job.end_ns - job.begin_ns);
  for (auto& [size, its] : lengths)
    std::ranges::nth_element(its, its.begin() + static_cast<std::ptrdiff_t>(its.size() / 2));
  for (SizedStep& job : jobs) {
    if (!job.size || lengths[*job.size].size() < kEnough) continue;
    const auto& its = lengths[*job.size];
    if (static_cast<double>(job.end_ns - job.begin_ns) > kSlow * static_cast<double>(its[its.size() / 2]))
      job.size.reset();
  }
}

}  // namespace

SizedSteps find_sized_steps(const Timeline& timeline, const HostLog& log) {
  SizedSteps steps;
  for (const SizedStep& range : outermost_sized_ranges(timeline)) {
    const std::uint32_t begin = log.first_from(range.begin_ns), end = log.first_from(range.end_ns);
    if (!log.has_launch(begin, end)) continue;
    if (!steps.begins.empty() && log.has_launch(steps.end, begin)) {
      steps.begins.push_back(static_cast<std::uint32_t>(steps.end));
      steps.jobs.push_back({std::nullopt, steps.jobs.back().end_ns, range.begin_ns});
    }
    steps.begins.push_back(begin);
    steps.jobs.push_back(range);
    steps.end = end;
  }
  leave_out_slow(steps.jobs);
  return steps;
}

void separate_jobs(Workload& workload) {
  drop_steps_for_earlier_jobs(workload);
  if (!workload.awaits.empty()) drop_awaits_of_earlier_jobs(workload);
}

}  // namespace corun

#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/builtin.h"
#include "sim/run/run.h"
#include "sim/workload/workload.h"
#include "traces/base/units.h"

namespace corun::testing {

/// Parameters of a policy that differ from their defaults, as an experiment would write them.
using Settings = std::vector<std::pair<std::string_view, std::string_view>>;

/// A built-in policy, made as an experiment makes it.
inline std::unique_ptr<Policy> make_policy(std::string_view name, const Settings& settings) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const PolicyDescriptor& descriptor = *registry.find(name);
  Parameters parameters = descriptor.defaults();
  for (const auto& [key, text] : settings)
    parameters.set(std::string(key), parse_parameter(*descriptor.find(key), text, SourceLocation{}));
  return descriptor.create(parameters);
}

/// Appends a job of operations that one host submits: `first_gap` before the first, `gap` before each other. With
/// `waits`, the host waits for each operation before it goes on.
inline void append_job(Workload& workload, const std::vector<Duration>& durations, Duration first_gap, Duration gap,
                       bool waits) {
  Job job;
  job.first_step = static_cast<std::uint32_t>(workload.steps.size());
  job.first_op = static_cast<std::uint32_t>(workload.ops.size());
  for (const Duration duration : durations) {
    const auto index = static_cast<std::uint32_t>(workload.ops.size());
    workload.steps.push_back({index == job.first_op ? first_gap : gap, StepKind::kSubmit, index});
    if (waits) workload.steps.push_back({Duration{0}, StepKind::kWaitOp, index});
    WorkOp op;
    op.duration = op.predicted_by_name = op.predicted_by_shape = duration;
    workload.ops.push_back(op);
  }
  job.op_count = static_cast<std::uint32_t>(workload.ops.size()) - job.first_op;
  job.step_count = static_cast<std::uint32_t>(workload.steps.size()) - job.first_step;
  workload.jobs.push_back(job);
}

}  // namespace corun::testing

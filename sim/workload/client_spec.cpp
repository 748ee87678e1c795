#include "sim/workload/client_spec.h"

#include <span>

#include "sim/workload/scaled.h"
#include "traces/base/error.h"

namespace corun {

Duration ClientSpec::switch_cost(std::uint32_t from, std::uint32_t to) const {
  if (knobs.empty()) return switch_costs.empty() ? Duration{0} : switch_costs[to];
  const std::span<const std::uint8_t> before = quality_menu[from].knobs, after = quality_menu[to].knobs;
  CORUN_ASSERT(before.size() == knobs.size() && after.size() == knobs.size(), "levels of '{}' without its knobs", name);
  Duration sum{};
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (before[i] != after[i]) sum += knobs[i].switch_cost;
  return sum;
}

Duration ClientSpec::dispatch_gap_of(std::size_t index) const {
  return scaled(workload->ops.dispatch_gap_of(index), device_time_scale);
}

Duration ClientSpec::launch_latency_of(std::size_t index) const {
  return scaled(workload->ops.launch_latency_of(index), launch_latency_scale);
}

std::vector<CapturedStep> ClientSpec::captured_steps() const {
  std::vector<CapturedStep> steps;
  for (std::size_t job = 0; job < workload->step_sizes.size(); ++job)
    if (workload->step_sizes[job])
      steps.push_back({*workload->step_sizes[job], job, workload->device_time(workload->jobs[job])});
  return steps;
}

}  // namespace corun

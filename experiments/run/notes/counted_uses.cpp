#include "experiments/run/notes/counted_uses.h"

#include "experiments/bands/counted_use.h"

namespace corun {

namespace {

/// Part of the time in which the device works for a program alone; 0 = not known.
double busy_alone(const Workload& workload, const std::optional<double>& rate) {
  const double step_s = rate ? 1 / *rate : to_seconds(workload.recorded_step);
  const auto jobs = static_cast<double>(workload.jobs.size());
  return step_s > 0 && jobs > 0 ? to_seconds(workload.device_time()) / jobs / step_s : 0;
}

}  // namespace

std::vector<std::string> counted_uses(const Scenario& scenario, ClientBuilder& builder) {
  std::vector<std::string> notes;
  for (const ClientChoice& choice : scenario.clients) {
    const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
    const Workload& workload = *spec.workload;
    if (workload.use.counted < kCountedEnough) continue;
    notes.push_back(
        counted_use_note(choice.name, workload.use, busy_alone(workload, builder.solo_rate(choice, workload))));
  }
  return notes;
}

}  // namespace corun

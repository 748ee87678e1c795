#include "experiments/run/draw_range.h"

#include <algorithm>

#include "experiments/bands/figure_band.h"
#include "experiments/run/ranges.h"
#include "sim/metrics/collector.h"
#include "sim/workload/capture/frame_draws.h"

namespace corun {

namespace {

/// Mean frame rate of a client under a policy with the first seed, with draws of so long.
double fps_with(const Scenario& scenario, ClientBuilder& builder, const PolicyDescriptor& policy,
                const PolicyChoice& choice, std::size_t client, Duration draw) {
  const std::uint64_t seed = scenario.seeds.front();
  std::vector<ClientChoice> choices = scenario.clients;
  choices[client].options.draw = draw;
  const std::unique_ptr<Policy> made = policy.create(choice.parameters);
  RunInput input;
  input.device = scenario.device;
  input.clients = builder.clients(scenario, choices, seed);
  input.policy = made.get();
  input.policy_name = choice.label;
  if (policy.needs.shared_context) input.device.sharing = Sharing::kConcurrent;
  input.horizon = scenario.horizon;
  input.warmup = scenario.warmup_or_default();
  input.seed = seed;
  input.tells_exact_durations = policy.needs.oracle;
  input.gate = scenario.gate;
  input.adjustments = choice.adjustments;
  Collector collector(input);
  const RunResult result = simulate(input, collector);
  for (const Metric& metric : collector.metrics(result, {}))
    if (metric.client == scenario.clients[client].name && metric.name == "fps_mean") return metric.value;
  return 0;
}

/// A policy that fails says so in its own runs.
std::string range_text(const Scenario& scenario, ClientBuilder& builder, const PolicyRegistry& policies,
                       const PolicyChoice& choice, std::size_t client) {
  const PolicyDescriptor& policy = *policies.find(choice.policy);
  try {
    const double finest = fps_with(scenario, builder, policy, choice, client, kShortDraws);
    return fmt::format("{:.1f} to {:.1f}", finest, fps_with(scenario, builder, policy, choice, client, kOneDraw));
  } catch (const Error&) {
    return "unknown";
  }
}

}  // namespace

std::vector<std::string> draw_ranges(const Scenario& scenario, ClientBuilder& builder, const PolicyRegistry& policies) {
  std::vector<std::string> warnings;
  if (scenario.cluster || scenario.clients.size() < 2) return warnings;
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const ClientChoice& client = scenario.clients[i];
    if (!FrameDraws::are_unknown(*builder.as_captured(scenario, client, scenario.seeds.front()).workload)) continue;
    std::vector<std::string> ranges;
    for (const PolicyChoice& choice : scenario.policies) {
      ranges.push_back(fmt::format("{} {}", choice.label, range_text(scenario, builder, policies, choice, i)));
    }
    warnings.push_back(unknown_draws_note(client.name, ranges));
  }
  return warnings;
}

}  // namespace corun

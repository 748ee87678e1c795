#include "experiments/run/notes/scenario_doubts.h"

#include <algorithm>

#include "sim/metrics/metric_table.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using Sentences = std::vector<std::string>;

void doubt_shares(const Scenario& scenario, Sentences& found) {
  double shares = 0;
  for (const ClientChoice& client : scenario.clients) shares += client.requested_share;
  if (shares > 1 + 1e-9 && !scenario.cluster)
    found.push_back(fmt::format("the clients' shares add up to {:.3g}: no policy can give them all", shares));
  for (const PolicyChoice& policy : scenario.policies)
    for (const auto& [parameter, value] : policy.parameters.values()) {
      const auto* by_client = std::get_if<ByClient>(&value);
      if (by_client == nullptr || (parameter != "limits" && parameter != "shares" && parameter != "requests")) continue;
      double sum = 0;
      for (const auto& [client, number] : *by_client) sum += number;
      if (sum > 1 + 1e-9)
        found.push_back(fmt::format("`{}` of policy {} add up to {:.3g} of the device", parameter, policy.label, sum));
    }
}

void doubt_expectations(const Scenario& scenario, ClientBuilder& builder, Sentences& found) {
  for (const Expectation& expectation : scenario.expectations) {
    const auto client = std::ranges::find(scenario.clients, expectation.left.client, &ClientChoice::name);
    const bool is_of_frames = metric_named(expectation.left.metric).owner == MetricOwner::kFrameClient;
    if (client == scenario.clients.end() || !is_of_frames || !builder.replays()) continue;
    if (builder.as_captured(scenario, *client, scenario.seeds.front()).workload->job_kind != JobKind::kFrame)
      found.push_back(
          fmt::format("`{}`: {} shows no frames, and will have no such figure", expectation.text, client->name));
  }
}

void doubt_power(const Scenario& scenario, ClientBuilder& builder, Sentences& found) {
  if (scenario.device.power_limit_w == 0 || !builder.replays()) return;
  std::vector<std::string> unknown;
  for (const ClientChoice& client : scenario.clients) {
    const bool is_known =
        client.power || builder.as_captured(scenario, client, scenario.seeds.front()).workload->power.watts > 0;
    if (!is_known) unknown.push_back(client.name);
  }
  if (unknown.empty()) return;
  found.push_back(
      fmt::format("what {} draws is not known (`power`): the device's clock follows the others alone, and "
                  "may be too high",
                  fmt::join(unknown, ", ")));
}

}  // namespace

Sentences scenario_doubts(const Scenario& scenario, ClientBuilder& builder) {
  Sentences found;
  doubt_shares(scenario, found);
  const DeviceSpec& device = scenario.device;
  if (device.sharing == Sharing::kTimeSliced && device.switch_cost >= device.time_slice && !scenario.clients.empty())
    found.push_back(fmt::format("a switch between contexts takes {}, no less than a time slice, {}",
                                format_duration(device.switch_cost), format_duration(device.time_slice)));
  doubt_expectations(scenario, builder, found);
  doubt_power(scenario, builder, found);
  return found;
}

}  // namespace corun

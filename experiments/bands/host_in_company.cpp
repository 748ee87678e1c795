#include "experiments/bands/host_in_company.h"

#include "experiments/bands/bands.h"
#include "experiments/bands/mechanism.h"

namespace corun {

bool waits_for_device(double kept, double busy) { return kept > 0 && busy / kept >= kMostlyBusy; }

std::optional<Scenario> with_slower_hosts(
    const Scenario& scenario, const PolicyChoice& policy,
    const std::function<std::optional<double>(const std::string& client, std::string_view metric)>& mean) {
  const bool is_range = !scenario.bounds.empty();  // of rates alone, which hang on hosts
  if (is_range || mechanism_of(scenario, policy).empty() || driver_mechanism(scenario, policy).empty())
    return std::nullopt;
  Scenario slower = scenario;
  slower.policies = {policy};
  bool is_any = false;
  for (ClientChoice& client : slower.clients) {
    const bool is_replayed = !client.trace.empty() && client.replay_or_default() == Replay::kClosed && !client.server;
    const bool is_stated = client.host_speed != 1.0 || client.host_gaps != HostGaps::kRange;
    const auto rate = mean(client.name, "throughput_per_s"), alone = mean(client.name, "solo_throughput_per_s");
    if (!is_replayed || is_stated || mean(client.name, "fps_mean") || !rate || !alone || *alone <= 0) continue;
    if (!waits_for_device(*rate / *alone, mean(client.name, "gpu_busy_ratio").value_or(0))) continue;
    client.host_speed = kSlowerHost;
    is_any = true;
  }
  return is_any ? std::optional(slower) : std::nullopt;
}

}  // namespace corun

#include "experiments/bands/error_class.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun {

namespace {

std::string unmeasured(const Scenario& scenario, const ClientChoice& client) {
  if (!scenario.device_facts.is_measured) return "the device";
  if (client.server) {
    if (client.server->prefill_share > 0) return "divided servers in company";
    if (client.server->limits.batching == Batching::kMixed) return "mixed steps in company";
    if (client.server->limits.prompts_per_step > 1) return "steps of several prompts";
    return client.server->step_times.path.empty() ? "the times of its steps alone" : "";
  }
  const bool is_assumed = client.is_bound || client.host_gaps != HostGaps::kRange;
  return is_assumed && !client.solo_rate ? "its rate alone" : "";
}

}  // namespace

std::string ErrorClass::label() const {
  return fmt::format("{} of {} programs{}{}", mechanism, programs, unmeasured.empty() ? "" : ", but not ", unmeasured);
}

std::map<std::string, ErrorClass> error_classes(const Scenario& scenario, const PolicyChoice& policy) {
  const auto is_like = [](const ClientChoice& client) {
    return !client.trace.empty() && client.replay_or_default() == Replay::kClosed;
  };
  if (scenario.cluster || scenario.backend != kSimulation || scenario.clients.size() < 2) return {};
  std::string mechanism = driver_mechanism(scenario, policy);
  if (mechanism.empty() || !std::ranges::all_of(scenario.clients, is_like)) return {};
  if (std::ranges::any_of(scenario.clients, [](const ClientChoice& client) { return client.server.has_value(); }))
    mechanism += kWithServers;
  std::map<std::string, ErrorClass> classes;
  for (const ClientChoice& client : scenario.clients)
    classes[client.name] = {mechanism, scenario.clients.size(), unmeasured(scenario, client), scenario.measured_s()};
  return classes;
}

}  // namespace corun

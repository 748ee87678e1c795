#include "experiments/bands/mechanism.h"

#include <algorithm>

#include "experiments/bands/bands.h"

namespace corun {

std::string driver_mechanism(const Scenario& scenario, const PolicyChoice& policy) {
  if (policy.policy == "mps_percentage") return "split";
  if (policy.policy != "passthrough") return "";
  const auto is_capped = [](const ClientChoice& client) { return client.context.sm_cap < 1; };
  switch (scenario.device.sharing) {
    case Sharing::kTimeSliced:
      return "turns";
    case Sharing::kConcurrent:
      return std::ranges::any_of(scenario.clients, is_capped) ? "split" : "mps";
    case Sharing::kExclusive:
      return "";
  }
  return "";
}

std::string mechanism_of(const Scenario& scenario, const PolicyChoice& policy) {
  if (scenario.cluster || scenario.backend != kSimulation || scenario.clients.size() < 2) return "";
  const std::string of_driver = driver_mechanism(scenario, policy);
  if (of_driver.empty()) return policy.policy + (scenario.device.sharing == Sharing::kConcurrent ? " under mps" : "");
  const auto is_server = [](const ClientChoice& client) { return client.server.has_value(); };
  return of_driver + std::string(std::ranges::any_of(scenario.clients, is_server) ? kWithServers : "");
}

}  // namespace corun

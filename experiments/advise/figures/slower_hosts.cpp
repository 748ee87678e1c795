#include "experiments/advise/figures/slower_hosts.h"

#include <fmt/format.h>

namespace corun {

namespace {

bool may_be_slower(const AskedProgram& program, const SimulatedRuns& simulated) {
  if (program.trace.empty() || program.is_server()) return false;
  for (const char* key : {"host_speed", "host_gaps"})
    if (program.keys.contains(key)) return false;
  const auto its = simulated.clients.find(program.name);
  if (its == simulated.clients.end()) return false;
  const ClientMeans& means = its->second;
  const bool has_frames = means.of("fps_mean").has_value();
  const bool has_unknown_rate = simulated.unknown_rates.contains(program.name);
  return !has_frames && !has_unknown_rate && waits_for_device(means.kept(), means.of("gpu_busy_ratio").value_or(0));
}

}  // namespace

std::optional<std::vector<AskedProgram>> with_slower_hosts(const std::vector<AskedProgram>& programs,
                                                           const SimulatedRuns& simulated) {
  std::vector<AskedProgram> slower = programs;
  bool is_any = false;
  for (AskedProgram& program : slower) {
    if (!may_be_slower(program, simulated)) continue;
    program.keys["host_speed"] = fmt::format("{}", kSlowerHost);
    is_any = true;
  }
  return is_any ? std::optional(slower) : std::nullopt;
}

void add_bound(SimulatedBounds& simulated, const SimulatedBounds& slower) {
  const std::size_t bounds = simulated.size();
  for (std::size_t i = 0; i < std::min(bounds, slower.size()); ++i) {
    SimulatedRuns bound = slower[i];
    for (auto& [client, means] : bound.clients) means.take("solo_throughput_per_s", simulated[i].clients.at(client));
    simulated.push_back(std::move(bound));
  }
}

}  // namespace corun

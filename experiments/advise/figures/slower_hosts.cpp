#include "experiments/advise/figures/slower_hosts.h"

#include <fmt/format.h>

#include <map>
#include <utility>

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

bool add_slower_hosts(const std::vector<AskedProgram>& programs, std::vector<SimulatedBounds>& simulated,
                      const std::function<std::optional<std::string>(std::size_t place)>& group_of,
                      const std::function<std::vector<SimulatedBounds>(
                          const std::vector<AskedProgram>& slower, const std::vector<std::size_t>& places)>& simulate) {
  struct Alike {
    std::vector<AskedProgram> programs;
    std::vector<std::size_t> places;
  };
  std::map<std::pair<std::string, std::string>, Alike> alike;  // by group and clients
  for (std::size_t place = 0; place < simulated.size(); ++place) {
    const auto group = group_of(place);
    auto slower = group ? with_slower_hosts(programs, simulated[place].front()) : std::nullopt;
    if (!slower) continue;
    Alike& its = alike[{*group, clients_text(*slower)}];
    its.programs = std::move(*slower);
    its.places.push_back(place);
  }
  for (const auto& [key, its] : alike) {
    const std::vector<SimulatedBounds> found = simulate(its.programs, its.places);
    for (std::size_t i = 0; i < its.places.size(); ++i) add_bound(simulated[its.places[i]], found[i]);
  }
  return !alike.empty();
}

}  // namespace corun

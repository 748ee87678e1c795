#include "experiments/run/host_range.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "experiments/question/device_choice.h"
#include "experiments/run/clients/client_builder.h"
#include "experiments/run/plan.h"

namespace corun {

namespace {

constexpr double kSame = 0.01;
constexpr std::size_t kMostCombined = 2;  // programs whose ends are combined in every way

/// Clients of one capture, read in one way.
struct Program {
  const ClientChoice* first;
  std::vector<std::size_t> clients;  ///< indices into Scenario::clients
};
using Ends = std::vector<HostGaps>;  // by program

bool is_same_program(const ClientChoice& a, const ClientChoice& b) {
  return a.trace == b.trace && a.options == b.options;
}

std::vector<Ends> combinations(std::size_t programs) {
  std::vector<Ends> all;
  const std::size_t combined = std::min(programs, kMostCombined);
  if (programs == combined) {
    for (std::size_t bits = 0; bits < (std::size_t{1} << programs); ++bits) {
      Ends& ends = all.emplace_back();
      for (std::size_t i = 0; i < programs; ++i)
        ends.push_back((bits >> i & 1) != 0 ? HostGaps::kNone : HostGaps::kRecorded);
    }
    return all;
  }
  for (const auto& [most, other] :
       {std::pair(HostGaps::kRecorded, HostGaps::kNone), std::pair(HostGaps::kNone, HostGaps::kRecorded)}) {
    all.emplace_back(programs, most);
    for (std::size_t i = 0; i < programs; ++i) {
      all.emplace_back(programs, most);
      all.back()[i] = other;
    }
  }
  return all;
}

class Expansion {
 public:
  explicit Expansion(const Experiment& experiment) : hashes_(make_plan(experiment).hashes), builder_(hashes_, true) {}

  std::vector<Scenario> of(const Scenario& scenario) {
    const std::vector<Program> programs = unknown_programs(scenario);
    if (programs.empty()) return {scenario};
    std::vector<Scenario> scenarios;
    for (const Ends& ends : combinations(programs.size())) scenarios.push_back(at(scenario, programs, ends));
    return scenarios;
  }

 private:
  std::vector<Program> unknown_programs(const Scenario& scenario) {
    std::vector<Program> programs;
    for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
      const ClientChoice& client = scenario.clients[i];
      if (!may_be_unknown(scenario, client)) continue;
      const auto known = std::ranges::find_if(
          programs, [&](const Program& program) { return is_same_program(*program.first, client); });
      if (known != programs.end())
        known->clients.push_back(i);
      else
        programs.push_back({&client, {i}});
    }
    std::erase_if(programs, [&](const Program& program) {
      return std::ranges::none_of(program.clients,
                                  [&](std::size_t i) { return is_unknown(scenario, scenario.clients[i]); });
    });
    return programs;
  }

  /// Nothing tells its host's speed.
  bool may_be_unknown(const Scenario& scenario, const ClientChoice& client) {
    if (client.trace.empty() || client.solo_rate || client.host_gaps != HostGaps::kRange) return false;
    const Workload& workload = *builder_.as_captured(scenario, client, scenario.seeds.front()).workload;
    return workload.tracer != Workload::Tracer::kNone && !(workload.untraced_jobs_per_s > 0);
  }

  bool is_unknown(const Scenario& scenario, const ClientChoice& client) {
    const std::pair key(device_text(scenario.device), canonical_client(client, hashes_));
    const auto [found, is_new] = is_unknown_.try_emplace(key, false);
    if (is_new) found->second = has_range(scenario, client);
    return found->second;
  }

  bool has_range(const Scenario& scenario, const ClientChoice& client) {
    const ClientSpec spec = builder_.as_captured(scenario, client, scenario.seeds.front());
    const double slowest = solo_rate_at(spec, scenario.device, 1.0), fastest = solo_rate_at(spec, scenario.device, 0.0);
    return !(std::abs(fastest / slowest - 1) <= kSame);
  }

  static Scenario at(const Scenario& scenario, const std::vector<Program>& programs, const Ends& ends) {
    Scenario bound = scenario;
    std::vector<std::string> words;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      const bool is_fast = ends[p] == HostGaps::kNone;
      words.push_back(fmt::format("{} {}", programs[p].first->name, is_fast ? "fastest" : "slowest"));
      for (const std::size_t client : programs[p].clients) {
        bound.clients[client].host_gaps = ends[p];
        bound.clients[client].is_bound = true;
      }
    }
    bound.bounds = scenario.name;
    bound.name = fmt::format("{} ({})", scenario.name, fmt::join(words, ", "));
    return bound;
  }

  const FileHashes hashes_;
  ClientBuilder builder_;
  std::map<std::pair<std::string, std::string>, bool> is_unknown_;
};

}  // namespace

Experiment with_host_ranges(Experiment experiment) {
  try {
    Expansion expansion(experiment);
    std::vector<Scenario> scenarios;
    for (const Scenario& scenario : experiment.scenarios)
      for (Scenario& bound : expansion.of(scenario)) scenarios.push_back(std::move(bound));
    experiment.scenarios = std::move(scenarios);
  } catch (const Error&) {
    // Found again, and located, by whatever checks the experiment.
  }
  return experiment;
}

}  // namespace corun

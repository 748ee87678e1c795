#include "experiments/run/run_inputs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/hash.h"
#include "experiments/question/cluster_lists.h"
#include "experiments/question/device_choice.h"
#include "experiments/run/clients/assumptions.h"
#include "experiments/run/clients/capture_check.h"
#include "experiments/run/clients/doubts.h"
#include "experiments/run/clients/memory_check.h"
#include "experiments/run/clients/mig_check.h"
#include "experiments/run/clients/needs_check.h"
#include "experiments/run/clients/self_check.h"
#include "experiments/run/draw_range.h"
#include "experiments/run/notes/counted_uses.h"
#include "experiments/run/notes/scenario_doubts.h"
#include "sim/cluster/mix_table.h"
#include "sim/cluster/pod_kinds.h"
#include "sim/solo/solo.h"

namespace corun {

namespace {

constexpr double kLatestArrivalNs = 4e18;  // a year that no run reaches, and no overflow

ClusterLists read_lists(const ClusterChoice& choice, Duration horizon) {
  ClusterLists lists{choice.nodes, choice.pods};
  if (!choice.nodes_file.empty()) lists.nodes = read_node_list(choice.nodes_file);
  if (!choice.pods_file.empty()) lists.pods = read_pod_list(choice.pods_file);
  std::int64_t cards = 0;
  for (const NodeSpec& node : lists.nodes) cards += node.cards;
  if (cards == 0) throw Error(ErrorKind::kInput, choice.nodes_where, "no node has a card");
  for (PodSpec& pod : lists.pods) {
    const double arrival = static_cast<double>(to_ns(pod.arrival)) / choice.arrival_speedup;
    pod.arrival = Duration{std::llround(std::min(arrival, kLatestArrivalNs))};
    if (choice.pods_stay) pod.runtime = horizon;
    round_to_units(choice, pod);
  }
  for (NodeSpec& node : lists.nodes) round_to_units(choice, node);
  return lists;
}

}  // namespace

const ClusterLists& RunInputs::cluster(const Scenario& scenario) {
  const ClusterChoice& choice = *scenario.cluster;
  return clusters_.get({choice.nodes_file, choice.pods_file, cluster_text(choice), scenario.horizon},
                       [&] { return read_lists(choice, scenario.horizon); });
}

CardSharing RunInputs::sharing(const Scenario& scenario, std::uint64_t seed) {
  CardSharing sharing;
  if (scenario.clients.empty()) return sharing;
  const PolicyChoice choice = card_policy(scenario, policies_);
  const PolicyDescriptor& policy = *policies_.find(choice.policy);
  sharing.clients = clients(scenario, seed);
  sharing.device = scenario.device;
  if (policy.needs.shared_context) sharing.device.sharing = Sharing::kConcurrent;
  sharing.gate = scenario.gate;
  sharing.make_policy = [create = policy.create, parameters = choice.parameters] { return create(parameters); };
  sharing.policy_name = choice.label;
  sharing.tells_exact_durations = policy.needs.oracle;
  sharing.forgets = policy.forgets && std::ranges::none_of(choice.parameters.values(), [](const auto& parameter) {
                      const auto* by_client = std::get_if<ByClient>(&parameter.second);
                      return by_client != nullptr && !by_client->empty();
                    });
  sharing.seed = seed;
  const ClusterChoice& cluster = *scenario.cluster;
  if (cluster.is_by_mix)
    sharing.mixes = mixes_.get(content_hash(canonical_run(scenario, choice, seed, hashes_)), [&] {
      return std::make_shared<MixTable>(sharing, cluster.mix_window, cluster.progress_where);
    });
  return sharing;
}

Duration RunInputs::alone(const Scenario& scenario, const CardSharing& sharing, const PodSpec& pod) {
  const auto at = std::ranges::find(sharing.clients, pod.client, &ClientSpec::name);
  CORUN_ASSERT(at != sharing.clients.end(), "pod '{}' runs '{}'", pod.name, pod.client);
  if (at->repeat == 0 || at->stay > Duration{0}) return Duration{0};
  const bool is_drawn = at->host_jitter > 0 || at->duration_jitter > 0;
  const ClientChoice& choice = scenario.clients[static_cast<std::size_t>(at - sharing.clients.begin())];
  const AloneKey key{sharing.seed, is_drawn ? pod.name : "", scenario.horizon, device_text(sharing.device),
                     canonical_client(choice, hashes_)};
  return alone_.get(key, [&] {
    PodSpec unhurried = pod;
    unhurried.runtime = Duration{0};
    return time_alone(pod_client(*at, unhurried), sharing.device, sharing.seed, scenario.horizon, interrupt_)
        .value_or(Duration{0});
  });
}

SoloBaseline RunInputs::baseline(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  const PolicyDescriptor* passthrough = policies_.find("passthrough");
  CORUN_ASSERT(passthrough != nullptr, "baselines need the policy `passthrough`");
  const std::unique_ptr<Policy> policy = passthrough->create(passthrough->defaults());
  const RunInput input{.device = scenario.device,
                       .clients = clients_.clients(scenario, {&choice, 1}, seed),
                       .policy = policy.get(),
                       .policy_name = passthrough->name,
                       .horizon = scenario.horizon,
                       .warmup = scenario.warmup_or_default(),
                       .seed = seed,
                       .interrupt = interrupt_};
  Collector collector(input);
  std::vector<std::string> notes;
  const RunResult result = backend_.run(input, collector, notes);
  return collector.baseline(result, 0);
}

std::vector<SoloBaseline> RunInputs::solo(const Scenario& scenario, std::uint64_t seed) {
  std::vector<SoloBaseline> baselines;
  for (const ClientChoice& choice : scenario.clients) {
    const BaselineKey key{seed, scenario.horizon, scenario.warmup_or_default(), device_text(scenario.device),
                          canonical_client(choice, hashes_)};
    baselines.push_back(baselines_.get(key, [&] { return baseline(scenario, choice, seed); }));
  }
  return baselines;
}

std::vector<std::string> RunInputs::notes(const Scenario& scenario) {
  std::vector<std::string> notes = assumptions(scenario, clients_);
  const std::vector<std::string> uses = counted_uses(scenario, clients_);
  notes.insert(notes.end(), uses.begin(), uses.end());
  if (!experiment_.points.empty() || backend_.name != kSimulation) return notes;
  const auto& warnings = draw_ranges_.get(scenario.name, [&] { return draw_ranges(scenario, clients_, policies_); });
  notes.insert(notes.end(), warnings.begin(), warnings.end());
  return notes;
}

void RunInputs::check(const std::function<void(const ClientChoice&)>& tick) {
  Diagnostics refusals;
  for (const Scenario& scenario : experiment_.scenarios) check(scenario, refusals);
  refusals.throw_if_any();
  check_alone(tick);
}

void RunInputs::check(const Scenario& scenario, Diagnostics& refusals) {
  const auto attempt = [&](const SourceLocation& where, auto action) {
    try {
      action();
    } catch (const Error& error) {
      refusals.add(error, where);
    }
  };
  const bool is_live = backend_.name == kLiveBackend;
  if (scenario.cluster) attempt(scenario.where, [&] { cluster(scenario); });
  std::vector<ClientSpec> specs;
  // Fitting takes runs; whether a policy can work does not depend on it.
  for (const ClientChoice& choice : scenario.clients)
    attempt(choice.where, [&] {
      specs.push_back(clients_.as_captured(scenario, choice, scenario.seeds.front()));
      if (!is_live) refuse_doubtful(scenario, choice, specs.back(), refusals);
    });
  if (specs.size() < scenario.clients.size()) return;
  check_needs(scenario, specs, policies_, refusals);
  if (is_live) return refuse_unkillable(scenario, specs, policies_, refusals);
  refuse_unknown_paging(scenario, refusals);
  refuse_overcommitted(scenario, specs, refusals);
  refuse_impossible_instances(scenario, specs, refusals);
}

void RunInputs::check_alone(const std::function<void(const ClientChoice&)>& tick) {
  Diagnostics diagnostics;
  diagnostics.add_source(experiment_.file, experiment_.text);
  std::set<std::string> told;
  for (const Scenario& scenario : experiment_.scenarios)
    for (const ClientChoice& choice : scenario.clients) {
      if (tick) tick(choice);
      for (const Misfit& misfit : misfits(scenario, choice, clients_)) {
        if (choice.accepts(misfit.doubt)) continue;
        const std::string what = fmt::format("client `{}`: {}", choice.name, misfit.what);
        if (!told.insert(what).second) continue;
        diagnostics.add(Error(ErrorKind::kInput, choice.where, what,
                              fmt::format("{}; or take it as it is: `accept: [{}]`", misfit.help,
                                          kDoubts[static_cast<std::size_t>(misfit.doubt)])),
                        choice.where);
      }
    }
  diagnostics.throw_if_any();
}

std::vector<std::string> RunInputs::warnings() {
  std::vector<std::string> found;
  const auto add = [&](const std::string& whose, const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      std::string text = fmt::format("{}: {}", whose, sentence);
      if (std::ranges::find(found, text) == found.end()) found.push_back(std::move(text));
    }
  };
  for (const Scenario& scenario : experiment_.scenarios) {
    for (const ClientChoice& choice : scenario.clients) {
      add(choice.name, accepted_misfits(scenario, choice, clients_));
      add(choice.name, doubts(scenario, choice, clients_));
      add(choice.name, idle_keys(scenario, choice, clients_));
    }
    add(scenario.own_name(), scenario_doubts(scenario, clients_));
  }
  return found;
}

}  // namespace corun

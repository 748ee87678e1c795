#include "experiments/run/plan.h"

#include "experiments/base/hash.h"
#include "experiments/question/device_choice.h"
#include "experiments/run/results_revision.h"

namespace corun {

namespace {

void add_hash(FileHashes& hashes, const std::string& path, const SourceLocation& where) {
  if (path.empty() || hashes.contains(path)) return;
  try {
    hashes[path] = file_hash(path);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, where, fmt::format("{}: {}", path, error.message()),
                "relative paths are relative to the experiment's file");
  }
}

void add_hashes(FileHashes& hashes, const ClientChoice& client) {
  for (const auto& [label, file] : files_of(client)) add_hash(hashes, file.path, file.where);
}

}  // namespace

std::string_view engine_version() { return CORUN_VERSION; }

namespace {

void add_policy(CanonicalLines& lines, const std::string& key, const PolicyChoice& policy) {
  lines.add(key, policy.policy);
  if (!policy.plugin.empty()) lines.add(key == "policy" ? "plugin" : key + ".plugin", lines.hash_of(policy.plugin));
  for (const auto& [name, value] : policy.parameters.values()) lines.add(key + "." + name, format_parameter(value));
  for (const auto& [at, name, value] : policy.adjustments)
    lines.add(fmt::format("{}.{}.from.{}", key, name, to_ns(at)), format_parameter(value));
}

}  // namespace

std::string canonical_run(const Scenario& scenario, const PolicyChoice& policy, std::uint64_t seed,
                          const FileHashes& hashes) {
  CanonicalLines lines(hashes);
  lines.add("engine", fmt::format("{} revision {}", engine_version(), kResultsRevision));
  lines.add("backend", scenario.backend);
  lines.add("scenario", scenario.name);
  lines.add("horizon_ns", to_ns(scenario.horizon));
  lines.add("warmup_ns", to_ns(scenario.warmup_or_default()));
  lines.add("seed", seed);
  lines.add("label", policy.label);
  add_policy(lines, "policy", policy);
  if (scenario.cluster) {
    const ClusterChoice& cluster = *scenario.cluster;
    lines.add_text("cluster.", cluster_text(cluster));
    if (!cluster.nodes_file.empty()) lines.add("cluster.nodes", lines.hash_of(cluster.nodes_file));
    if (!cluster.pods_file.empty()) lines.add("cluster.pods", lines.hash_of(cluster.pods_file));
    if (cluster.sharing) add_policy(lines, "cluster.sharing", *cluster.sharing);
    if (scenario.clients.empty()) return lines.text();
  }
  lines.add_text("device.", device_text(scenario.device));
  if (scenario.gate != GateDelays{})
    lines.add("gate_ns", fmt::format("{} {} {} {}", to_ns(scenario.gate.frame_heard), to_ns(scenario.gate.end_heard),
                                     to_ns(scenario.gate.answer), to_ns(scenario.gate.wake)));
  std::size_t index = 0;
  for (const ClientChoice& client : scenario.clients)
    lines.add_text(fmt::format("client.{:04}.", index++), canonical_client(client, hashes));
  return lines.text();
}

Plan make_plan(const Experiment& experiment) {
  Plan plan;
  for (const Scenario& scenario : experiment.scenarios) {
    for (const ClientChoice& client : scenario.clients) add_hashes(plan.hashes, client);
    for (const PolicyChoice& policy : scenario.policies) add_hash(plan.hashes, policy.plugin, policy.where);
    if (scenario.cluster) add_hash(plan.hashes, scenario.cluster->nodes_file, scenario.cluster->nodes_where);
    if (scenario.cluster) add_hash(plan.hashes, scenario.cluster->pods_file, scenario.cluster->pods_where);
    if (scenario.cluster && scenario.cluster->sharing)
      add_hash(plan.hashes, scenario.cluster->sharing->plugin, scenario.cluster->sharing->where);
  }
  std::map<std::string, std::size_t> index;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    for (std::size_t p = 0; p < scenario.policies.size(); ++p)
      for (const std::uint64_t seed : scenario.seeds) {
        std::string id = content_hash(canonical_run(scenario, scenario.policies[p], seed, plan.hashes));
        const auto [run, is_new] = index.try_emplace(id, plan.runs.size());
        if (is_new) plan.runs.push_back({s, p, seed, std::move(id)});
        plan.places.push_back({run->second, scenario.point});
      }
  }
  return plan;
}

}  // namespace corun

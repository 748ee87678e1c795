#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/fields.h"
#include "experiments/question/policy_choice.h"
#include "sim/cluster/cluster.h"

namespace corun {

struct Scenario;

/// Pods of one group that do the work of a client.
struct PodClient {
  std::string name;
  SourceLocation where;
  bool has_runtime = false;  ///< an end that the pods state themselves
};

/// A scenario's cluster as written: lists of nodes and pods, from files or spelled out.
struct ClusterChoice {
  std::string nodes_file, pods_file;  ///< resolved paths; empty = spelled out
  SourceLocation nodes_where, pods_where;
  std::vector<NodeSpec> nodes;          ///< spelled out
  std::vector<PodSpec> pods;            ///< spelled out
  std::vector<PodClient> pod_clients;   ///< of the pods spelled out
  std::optional<PolicyChoice> sharing;  ///< of cards by pods with a client; default: passthrough
  bool pods_stay = false;               ///< no pod leaves: measures how much can be packed
  double arrival_speedup = 1.0;         ///< divides the times of arrival; runtimes stay
  PlacementTimes times;
  std::uint32_t unit_cores = 0;         ///< parts of a card that requests are counted in; 0 = thousandths
  std::uint64_t unit_memory_bytes = 0;  ///< that requests are counted in; 0 = bytes
  bool is_by_mix = false;               ///< pods with clients are estimated by their mixes (MixCards), not simulated
  SourceLocation progress_where;
  Duration mix_window = kMixWindow;  ///< for which each mix is simulated, twice
  static constexpr Duration kMixWindow{10'000'000'000};
};

/// Reads `cluster: { nodes: ..., pods: ..., ... }` into `out`; keys that are not given stay as they are.
void read_cluster(const Node& node, const std::string& folder, PolicyRegistry& policies, ClusterChoice& out,
                  ScalarReader& reader);
/// Says what a scenario's cluster that has been read, at `node` last, still lacks, and what its clients cannot be.
void check_cluster(const Node& node, const Scenario& scenario, ScalarReader& reader);

/// The pod's requests, or the node's memory, in whole units: requests are rounded up, what there is down.
void round_to_units(const ClusterChoice& cluster, PodSpec& pod);
void round_to_units(const ClusterChoice& cluster, NodeSpec& node);

/// Everything that decides a cluster run but the files' content, as text.
std::string cluster_text(const ClusterChoice& cluster);

}  // namespace corun

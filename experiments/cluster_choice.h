#pragma once

#include <string>
#include <vector>

#include "experiments/fields.h"
#include "sim/cluster/cluster.h"

namespace corun {

/// A scenario's cluster as written: lists of nodes and pods, from files or spelled out.
struct ClusterChoice {
  std::string nodes_file, pods_file;  ///< resolved paths; empty = spelled out
  SourceLocation nodes_where, pods_where;
  std::vector<NodeSpec> nodes;   ///< spelled out
  std::vector<PodSpec> pods;     ///< spelled out
  bool pods_stay = false;        ///< nobody leaves: how much can be packed
  double arrival_speedup = 1.0;  ///< divides the times of arrival; runtimes stay
  PlacementLatency latency;
};

/// Reads `cluster: { nodes: ..., pods: ..., ... }` into `out`; keys that are not given stay as they are.
void read_cluster(const Node& node, const std::string& folder, ClusterChoice& out, ScalarReader& reader);
/// Says what a cluster that has been read, at `node` last, still lacks.
void check_cluster(const Node& node, const ClusterChoice& cluster, ScalarReader& reader);

/// Everything that decides a cluster run but the files' content, as text.
std::string cluster_text(const ClusterChoice& cluster);

}  // namespace corun

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/memo.h"
#include "experiments/plan.h"
#include "sim/cluster/cluster_metrics.h"
#include "sim/metrics/collector.h"
#include "sim/solo.h"

namespace corun {

/// Nodes and pods of a cluster scenario, from its lists.
struct ClusterLists {
  std::vector<NodeSpec> nodes;
  std::vector<PodSpec> pods;
};

/// What the runs of an experiment share: captures, workloads, host-gap fits and solo baselines, each made once.
///
/// Any number of threads may ask; `experiment`, `hashes` and `policies` must outlive it.
class Materials {
 public:
  Materials(const Experiment& experiment, const FileHashes& hashes, const PolicyRegistry& policies)
      : experiment_(experiment), hashes_(hashes), policies_(policies) {}

  /// Loads every capture and checks that each policy finds what it needs. Throws Error(kInput, kUnsupported).
  void check();

  /// As read and as the scenario changes them: arrivals sped up, pods that stay.
  const ClusterLists& cluster(const Scenario& scenario);
  std::vector<ClientSpec> clients(const Scenario& scenario, std::uint64_t seed);
  /// Of every client, in order: alone on the device, every gate open, same seed, horizon and warm-up.
  std::vector<SoloBaseline> solo(const Scenario& scenario, std::uint64_t seed);
  /// What was assumed, one sentence each, in the order of the clients.
  std::vector<std::string> notes(const Scenario& scenario);

 private:
  using SharedWorkload = std::shared_ptr<const Workload>;
  /// As written and captured, with the host gaps of the capture.
  ClientSpec unfitted(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  ClientSpec client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  SharedWorkload captured(const ClientChoice& choice);
  SharedWorkload drawn(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  HostGapFit fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec);
  void check_needs(const Scenario& scenario, const PolicyChoice& choice, const std::vector<ClientSpec>& clients) const;

  const Experiment& experiment_;
  const FileHashes& hashes_;
  const PolicyRegistry& policies_;
  Memo<std::shared_ptr<const Timeline>> timelines_;
  Memo<SharedWorkload> workloads_;
  Memo<HostGapFit> fits_;
  Memo<SoloBaseline> baselines_;
  Memo<ClusterLists> clusters_;
};

}  // namespace corun

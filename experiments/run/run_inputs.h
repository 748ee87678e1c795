#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "experiments/base/memo.h"
#include "experiments/run/plan.h"
#include "experiments/run/execution_backend.h"
#include "sim/cluster/cluster_metrics.h"
#include "sim/metrics/collector.h"
#include "sim/solo/solo.h"

namespace corun {

/// Nodes and pods of a cluster scenario, from its lists.
struct ClusterLists {
  std::vector<NodeSpec> nodes;
  std::vector<PodSpec> pods;
};

/// What the runs of an experiment share: workloads, host-gap fits and solo baselines, each made once.
///
/// Any number of threads may ask; `experiment`, `hashes` and `policies` must outlive it.
class RunInputs {
 public:
  RunInputs(const Experiment& experiment, const FileHashes& hashes, const PolicyRegistry& policies,
            ExecutionBackend backend = simulation_backend())
      : experiment_(experiment), hashes_(hashes), policies_(policies), backend_(std::move(backend)) {}

  /// Where runs take place, those of solo() included; host gaps are fitted in simulation.
  const ExecutionBackend& backend() const { return backend_; }

  /// Loads every capture and checks that each policy finds what it needs. Throws Error(kInput, kUnsupported).
  void check();

  /// As read and as the scenario changes them: arrivals sped up, pods that stay, requests in whole units.
  const ClusterLists& cluster(const Scenario& scenario);
  std::vector<ClientSpec> clients(const Scenario& scenario, std::uint64_t seed);
  /// What the pods of a cluster do on their cards, and how these are shared; empty where no pod has a client.
  CardSharing sharing(const Scenario& scenario, std::uint64_t seed);
  /// What the pod's program takes alone on an idle card; 0 where its work has no end, or none within the horizon.
  Duration alone(const Scenario& scenario, const CardSharing& sharing, const PodSpec& pod);
  /// Of every client, in order: alone on the device, every gate open, same seed, horizon and warm-up.
  std::vector<SoloBaseline> solo(const Scenario& scenario, std::uint64_t seed);
  /// What was assumed, one sentence each, in the order of the clients.
  std::vector<std::string> notes(const Scenario& scenario);

 private:
  using SharedWorkload = std::shared_ptr<const Workload>;
  /// As written and captured, with the host gaps of the capture.
  SharedWorkload work_of(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  /// Host gaps are those of captures: programs that run have their own.
  bool is_replayed() const { return backend_.name != kLiveBackend; }
  ClientSpec unfitted(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  ClientSpec client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  SharedWorkload captured(const ClientChoice& choice, const std::string& trace, const SourceLocation& where);
  /// GPU times of a capture's frames, scaled.
  std::vector<Duration> captured_frames(const ClientChoice& choice, const SceneTrace& scene);
  SharedWorkload drawn(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);
  SoloFit fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec);
  void check_needs(const Scenario& scenario, const PolicyChoice& choice, const std::vector<ClientSpec>& clients) const;
  void check_sharing_needs(const Scenario& scenario, const std::vector<ClientSpec>& clients) const;
  static void refuse_unmet(const Scenario& scenario, const PolicyChoice& choice, const Needs& needs,
                           const std::vector<ClientSpec>& clients);

  const Experiment& experiment_;
  const FileHashes& hashes_;
  const PolicyRegistry& policies_;
  const ExecutionBackend backend_;
  Memo<SharedWorkload> workloads_;
  Memo<SoloFit> fits_;
  Memo<SoloBaseline> baselines_;
  Memo<ClusterLists> clusters_;
  Memo<Duration> alone_;
};

}  // namespace corun

#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/base/memo.h"
#include "experiments/question/experiment.h"
#include "experiments/run/clients/client_builder.h"
#include "experiments/run/execution_backend.h"
#include "experiments/run/plan.h"
#include "sim/cluster/cluster_metrics.h"
#include "sim/metrics/collector.h"

namespace corun {

/// Nodes and pods of a cluster scenario, from its lists.
struct ClusterLists {
  std::vector<NodeSpec> nodes;
  std::vector<PodSpec> pods;
};

/// What the runs of an experiment share: clients, the lists of clusters, and what each client or pod does alone, each
/// made once.
///
/// Any number of threads may ask, but for interrupt_by(); `experiment`, `hashes` and `policies` must outlive it. `memo`
/// may be shared with the inputs of other experiments.
class RunInputs {
 public:
  RunInputs(const Experiment& experiment, const FileHashes& hashes, const PolicyRegistry& policies,
            ExecutionBackend backend = simulation_backend(),
            std::shared_ptr<FitMemo> memo = std::make_shared<FitMemo>())
      : experiment_(experiment),
        hashes_(hashes),
        policies_(policies),
        backend_(std::move(backend)),
        clients_(hashes, backend_.name != kLiveBackend, std::move(memo)) {}

  /// Where runs take place, those of solo() included; solo rates are fitted in simulation.
  const ExecutionBackend& backend() const { return backend_; }

  /// What ends simulations early where it becomes true, those that are made here included: they throw Interrupted.
  void interrupt_by(const std::atomic<bool>* interrupt) { interrupt_ = interrupt; }
  const std::atomic<bool>* interrupt() const { return interrupt_; }

  /// Loads every capture and checks that each policy finds what it needs, that clients fit into the device's memory,
  /// and what makes an answer doubtful (Doubt); then replays each distinct client alone (see misfits). Throws
  /// InvalidInput with everything that is wrong, replays after the rest. `tick` is called before each client's replay.
  void check(const std::function<void(const ClientChoice&)>& tick = {});
  /// What is doubtful of clients, each sentence once, in their order. After check().
  std::vector<std::string> warnings();

  /// As read and as the scenario changes them: arrivals sped up, pods that stay, requests in whole units.
  const ClusterLists& cluster(const Scenario& scenario);
  std::vector<ClientSpec> clients(const Scenario& scenario, std::uint64_t seed) {
    return clients_.clients(scenario, seed);
  }
  /// What the pods of a cluster do on their cards, and how these are shared; empty where no pod has a client.
  CardSharing sharing(const Scenario& scenario, std::uint64_t seed);
  /// What the pod's program takes alone on an idle card; 0 where its work has no end, or none within the horizon.
  Duration alone(const Scenario& scenario, const CardSharing& sharing, const PodSpec& pod);
  /// Of every client, in order: alone on the device, every gate open, same seed, horizon and warm-up.
  std::vector<SoloBaseline> solo(const Scenario& scenario, std::uint64_t seed);
  /// What was assumed, a sentence each, in the order of the clients.
  std::vector<std::string> notes(const Scenario& scenario);

 private:
  // Devices, clusters and clients stand in keys in their canonical forms.
  struct ClusterKey {
    std::string nodes_file, pods_file, cluster;
    Duration horizon;
    auto operator<=>(const ClusterKey&) const = default;
  };
  struct BaselineKey {
    std::uint64_t seed;
    Duration horizon, warmup;
    std::string device, client;
    auto operator<=>(const BaselineKey&) const = default;
  };
  struct AloneKey {
    std::uint64_t seed;
    std::string drawn_for;  ///< name of the pod where its times are drawn, by that name; else empty
    Duration horizon;
    std::string device, client;
    auto operator<=>(const AloneKey&) const = default;
  };

  void check(const Scenario& scenario, Diagnostics& refusals);
  void check_alone(const std::function<void(const ClientChoice&)>& tick);
  SoloBaseline baseline(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed);

  const Experiment& experiment_;
  const FileHashes& hashes_;
  const PolicyRegistry& policies_;
  const ExecutionBackend backend_;
  const std::atomic<bool>* interrupt_ = nullptr;
  ClientBuilder clients_;
  Memo<ClusterKey, ClusterLists> clusters_;
  Memo<BaselineKey, SoloBaseline> baselines_;
  Memo<AloneKey, Duration> alone_;
  Memo<std::string, std::shared_ptr<MixTable>> mixes_;       // by all that decides a run but its placement
  Memo<std::string, std::vector<std::string>> draw_ranges_;  // by scenario
};

}  // namespace corun

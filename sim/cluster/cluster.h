#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/policy/placement.h"
#include "sim/policy/policy.h"
#include "sim/run/run.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// A node as it is when empty.
struct NodeSpec {
  std::string name;
  std::string model;  ///< of its cards
  std::uint32_t cards = 0;
  std::uint64_t card_memory_bytes = 0;  ///< of each; 0 = not stated
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::vector<Link> links;  ///< cards x cards, symmetric; empty = all alike
};

/// A pod: what it asks for, when it comes, what it does once placed.
struct PodSpec {
  std::string name;
  std::uint32_t cards = 0;
  Milli milli = 0;
  std::uint64_t memory_bytes = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::vector<std::string> models;
  Duration arrival{};
  Duration runtime{};  ///< how long it works; with a client: it begins no job after that; 0 = until it is done
  std::string client;  ///< client that works on its card, see CardSharing; empty = it holds its cards for `runtime`
  Duration alone{};    ///< what its client's work takes alone on an idle card; 0 = not known
};

/// Delays of the manager of the cards, from a pod's arrival to its cards and between checks for pods that have left.
struct PlacementTimes {
  Duration admission{};          ///< from arrival to the choice of node and cards, once one is possible
  Duration allocation{};         ///< from the choice to the allocation on the node, where the pod takes its cards
  Duration container{};          ///< from there, the start, until a pod with cards begins its work
  Duration registration{};       ///< from the start until the nodes advertise their cards
  Duration check_period{};       ///< what a pod left is seen free at the next multiple of this; 0 = at once
  Duration collection_period{};  ///< a pod's configuration is deleted at the next multiple of this; 0 = at once
};

class MixTable;

/// How pods with a client share the card that they are on.
struct CardSharing {
  std::vector<ClientSpec> clients;                       ///< templates, by name
  DeviceSpec device;                                     ///< what each card is
  GateDelays gate{};                                     ///< ... and how far its policy is from its clients
  std::function<std::unique_ptr<Policy>()> make_policy;  ///< a fresh one for each card
  std::string policy_name;                               ///< for messages
  bool tells_exact_durations = false;                    ///< as RunInput's
  /// PolicyDescriptor::forgets, and no parameter names a client: equal cards are simulated once, with equal results.
  bool forgets = false;
  std::uint64_t seed = 1;
  /// Null: cards are simulated. Else pods are estimated by their mixes (MixCards), and have a number of jobs each.
  std::shared_ptr<MixTable> mixes{};
};

struct ClusterInput {
  std::vector<NodeSpec> nodes;
  std::vector<PodSpec> pods;  ///< in any order; those that arrive together are asked about in the order given
  PlacementPolicy* policy = nullptr;
  std::string policy_name;
  Duration horizon{};
  PlacementTimes times;
  CardSharing sharing;                           ///< means nothing where no pod has a client
  const std::atomic<bool>* interrupt = nullptr;  ///< as in RunInput
};

/// The state of a pod at the end of the run.
enum class PodState : std::uint8_t {
  kWaiting,  ///< never placed
  kRunning,  ///< still there at the horizon
  kFinished,
  kRejected,  ///< no node could hold it even if empty
  kFailed,    ///< the allocator refused it, or its program was answered with an error
};

/// Name of a state in results ("running").
constexpr std::string_view to_string(PodState state) {
  switch (state) {
    case PodState::kWaiting:
      return "waiting";
    case PodState::kRunning:
      return "running";
    case PodState::kFinished:
      return "finished";
    case PodState::kRejected:
      return "rejected";
    case PodState::kFailed:
      return "failed";
  }
  return "";
}

/// What a pod's work would take at the highest and at the lowest rates that its mixes had in halves of their windows.
/// That others would then end sooner or later, and come at other times, is not in it.
struct WorkRange {
  double shortest_ns = 0.0, longest_ns = 0.0;
};

/// What estimates by mixes of pods rest on.
struct MixUse {
  std::size_t mixes = 0;           ///< that occurred
  Duration window{};               ///< for which each was simulated, twice
  double widest = 1.0;             ///< most over least rate of a member of any
  std::vector<std::string> parts;  ///< clients of which less than one pass over their jobs was seen in some
};

/// A pod at the end of the run, or when it was over.
struct PodFact {
  std::size_t pod = 0;  ///< index into ClusterInput::pods
  std::string name;
  std::string node;  ///< where it was placed; empty where it was not
  PodState state = PodState::kWaiting;
  Time arrival;
  Time start = kNever;  ///< its cards were taken
  Time begin = kNever;  ///< it began its work
  Time end = kNever;    ///< it left
  Placement placement;
  std::string client;
  double slowdown = 0.0;  ///< time of its work over that alone on an idle card; 0 = not known or not finished
  std::optional<WorkRange> range{};  ///< of an estimate, where it finished
};

/// Free, taken and broken compute at one instant, in cards.
struct ClusterLevel {
  Time time;
  double allocated = 0.0;
  double fragmented = 0.0;  ///< of what is free: see fragmentation()
  std::uint64_t waiting = 0;
  std::uint64_t stale_configs = 0;  ///< of pods that have gone and whose configuration has not been deleted
};

struct ClusterResult {
  std::vector<PodFact> pods;         ///< by index
  std::vector<ClusterLevel> levels;  ///< at the start and at every change, one per instant
  double cards = 0.0;                ///< of the whole cluster
  std::uint64_t events = 0;
  Time end;                         ///< the horizon, or when all had left
  std::optional<MixUse> mix_use{};  ///< of an estimate
};

/// Replays pods on a cluster: each arrives, is placed as the policy says, runs and leaves. A pod for which there is no
/// place waits. When a pod leaves, the policy is asked again, in order of arrival, about the waiting pods that could
/// use what it left; a pod that does not fit delays no other. A pod that names a client runs it on its card until the
/// client is done, together with the clients of other pods there. A pure function: tables of mixes only save time.
/// Throws Error(kPolicy) for an illegal placement, and what simulate() and measure_mix() throw.
ClusterResult simulate_cluster(const ClusterInput& input);

}  // namespace corun

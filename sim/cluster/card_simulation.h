#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/pod_kinds.h"
#include "sim/run/simulation.h"

namespace corun {

/// One card by itself, on a clock of its own: a device, a policy, and clients of which each may become the client of a
/// pod of its kind. Pods are told apart by the order in which they came.
class CardSimulation : private Recorder {
 public:
  /// A pod's client has finished, or was refused by the policy.
  struct End {
    Time time;
    std::uint32_t pod = 0;   ///< which one to come
    std::uint64_t turn = 0;  ///< counts the events of its instant
    bool is_refused = false;
  };

  /// For `pods`, which come to it first and in this order, and others like them. `interrupt` as in RunInput.
  CardSimulation(const CardSharing& sharing, const PodKinds& kinds, std::span<const std::uint64_t> pods,
                 const std::atomic<bool>* interrupt);

  /// The first of them has left the card already, and had the last turn on the device.
  void first_has_left(bool had_graphics);
  /// Whether there is a client left for a pod of that kind that comes with so many of smaller numbers before it.
  bool has_place_for(std::uint32_t kind, std::uint32_t rank) const { return client_for(kind, rank).has_value(); }
  /// It comes once all else of that instant has happened, which does not lie before now(). Pods that come at one
  /// instant come together: the policy decides after the last.
  void join(std::uint32_t kind, std::uint32_t rank, Time when);

  /// Goes through `last`, or through the first instant before it at which pods end; these are returned.
  std::vector<End> run(Time last);

  Time now() const { return engine_.now(); }                ///< of the last event
  bool is_over() { return engine_.next_time() == kNever; }  ///< nothing more happens by itself
  std::uint64_t events() const { return engine_.events_fired(); }
  /// As DeviceModel's, the client being the pod's place among those that came.
  std::optional<LastTurn> last_turn() const;

 private:
  void on_refusal(const RefusalFact& refusal) override { clients_[refusal.client.value].is_refused = true; }
  void finished(ClientId client);
  std::optional<std::uint32_t> client_for(std::uint32_t kind, std::uint32_t rank) const;
  std::uint32_t take(std::uint32_t kind, std::uint32_t rank);

  struct Client {
    std::uint32_t kind = 0;
    std::optional<std::uint32_t> pod{};  ///< whose client it is, in order of their coming
    bool is_refused = false;
  };
  const std::vector<std::uint64_t> known_;  ///< pods, by client
  std::vector<std::uint32_t> planned_;      ///< clients of those that come first
  std::vector<Client> clients_;
  std::uint32_t pods_ = 0;  ///< that have come
  Time joined_ = kNever;    ///< when the last of them came
  std::vector<End> ended_;
  const std::unique_ptr<Policy> policy_;
  const RunInput input_;
  Engine engine_;
  Simulation simulation_;
};

}  // namespace corun

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cluster/card_histories.h"
#include "sim/cluster/cards.h"
#include "sim/cluster/pod_kinds.h"

namespace corun {

/// The cards on which pods do work: a device, a policy and clients each. A card is simulated by itself, up to the next
/// instant at which a pod can come, and cards on which the same has happened are simulated once (CardHistories).
class SharedCards : public Cards {
 public:
  /// `input` must outlive the cards.
  explicit SharedCards(const ClusterInput& input);

  void begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card, Time now) override;
  /// Those that finish with equally many events of their instants before them are in the order in which they began.
  std::vector<End> run(Time last) override;
  std::uint64_t count_events(Time end) override;
  std::optional<Time> last_event(Time end) const override;

 private:
  struct Card {
    CardHistory* history = nullptr;     ///< null while no pod has come
    Time start;                         ///< the first pod of the history came
    std::vector<std::uint64_t> pods{};  ///< of the history, in order of their coming
    std::size_t ends = 0;               ///< of the history that were reported
    std::uint32_t present = 0;          ///< pods
    std::uint64_t events = 0;           ///< of histories before
  };

  Card& card_at(std::uint32_t node, std::uint32_t card);
  bool may_begin_anew(const Card& card, Time now) const;
  void begin_anew(Card& card, Time now);
  std::optional<Time> next_end(Card& card, Time last);

  const ClusterInput& input_;
  const PodKinds kinds_;
  CardHistories histories_;
  bool time_matters_;                     ///< to a device whose power is known
  std::vector<std::size_t> first_cards_;  ///< by node
  std::vector<Card> cards_;
  std::vector<std::uint64_t> begun_;  ///< by pod: how many began before
  std::uint64_t pods_begun_ = 0;
};

}  // namespace corun

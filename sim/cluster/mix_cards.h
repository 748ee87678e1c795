#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/cluster/cards.h"
#include "sim/cluster/mix_table.h"

namespace corun {

/// Cards whose pods are estimated: as long as a card's pods stay the same, each does the jobs of its client at its rate
/// in that mix. Only ends of pods are events.
class MixCards : public Cards {
 public:
  /// `input` must outlive the cards and have a table of mixes. Pods have a number of jobs, and no runtime (asserted).
  explicit MixCards(const ClusterInput& input);

  void begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card, Time now) override;
  /// Pods that end together are in the order in which they began.
  std::vector<End> run(Time last) override;
  /// Those of the mixes that occurred.
  std::uint64_t count_events(Time end) override;
  std::optional<Time> last_event(Time end) const override;
  std::optional<MixUse> mix_use() const override;

 private:
  using KindMix = std::vector<std::uint32_t>;  ///< kinds, ascending

  struct Pod {
    std::uint32_t kind = 0;
    std::uint64_t begun = 0;  ///< how many began before
    std::uint64_t number = 0;
    double jobs = 0;  ///< left at the card's `since`
    WorkRange range{};
    bool is_new = true;  ///< its start is not in `jobs` yet
  };
  struct Card {
    std::vector<Pod> pods;            ///< by kind, then by begin
    Time since;                       ///< these pods are on it
    const MixRates* rates = nullptr;  ///< null where they are to be looked up
    Time next_end = kNever;
  };

  void move_to(Card& card, Time now);
  void look_up(std::uint32_t card);
  const MixRates& rates_of(const Card& card);
  void end_pods(std::uint32_t card, Time now, std::map<std::uint64_t, End>& by_begin);

  const ClusterInput& input_;
  std::vector<std::uint32_t> first_cards_;  ///< by node
  std::vector<Card> cards_;
  std::vector<MixMember> kinds_;                   ///< ascending
  std::map<KindMix, const MixRates*> known_;       ///< mixes that occurred
  std::set<std::uint32_t> changed_;                ///< cards without rates
  std::set<std::pair<Time, std::uint32_t>> ends_;  ///< the next one of each card
  std::uint64_t pods_begun_ = 0, present_ = 0;
  Time last_end_ = kRunStart;
};

}  // namespace corun

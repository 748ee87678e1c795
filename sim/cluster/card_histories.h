#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster/card_simulation.h"

namespace corun {

/// A pod comes to a card.
struct Coming {
  Duration after{};        ///< since the first one came
  std::uint32_t kind = 0;  ///< PodKinds
  std::uint32_t rank = 0;  ///< how many came before it that have smaller numbers
  auto operator<=>(const Coming&) const = default;
};

/// How a card was when the first pod came to it.
struct EmptyCard {
  std::optional<Time> when{};           ///< nullopt: it does not matter
  std::optional<std::uint32_t> card{};  ///< nullopt: any is like it
  std::optional<bool> left{};           ///< whether graphics had the last turn on it; nullopt: it is new
  auto operator<=>(const EmptyCard&) const = default;
};

/// What has happened on a card since it was empty: which pods came to it when, the last of them `coming`.
struct CardHistory {
  struct End {
    Duration after{};       ///< since the first pod came
    std::uint32_t pod = 0;  ///< in order of their coming; the one that left before counts
    std::uint64_t turn = 0;
    bool is_refused = false;
  };

  const EmptyCard* empty = nullptr;
  CardHistory* before = nullptr;  ///< without the last pod; null where none has come
  Coming coming;
  Time start;                                           ///< of the clock of its simulation
  std::map<Coming, std::unique_ptr<CardHistory>> next;  ///< with one more pod
  std::uint32_t cards = 0;                              ///< on which this and no more has happened
  std::vector<End> ends;                                ///< since the last pod came
  Duration known{-1};                                   ///< until and at which `ends` are known
  bool is_over = false;                                 ///< after `known` nothing more happens by itself
  std::uint64_t events = 0;                             ///< in all, where it is over
  Duration last_event{};                                ///< likewise
  std::optional<LastTurn> last_turn{};                  ///< likewise, where the card is then as if new but for it
  std::unique_ptr<CardSimulation> simulation;           ///< not before `known`, if there is one
};

/// The histories of all cards, each simulated once, as far as a card has come in it.
///
/// A simulation goes from history to history with the last card that has it; another that is in need of one begins it
/// anew, with the same pods at the same times.
class CardHistories {
 public:
  /// `input` and `kinds` must outlive it.
  CardHistories(const ClusterInput& input, const PodKinds& kinds) : input_(input), kinds_(kinds) {}

  /// Of a card before its first pod, which comes at `start`.
  CardHistory& begin(const EmptyCard& empty, Time start);
  /// Of a card with this history, one pod later.
  CardHistory& go_on(CardHistory& history, const Coming& coming);

  /// Finds out what happens until `until`, or until the next end. `pods` are those that have come to some card of it.
  void extend(CardHistory& history, std::span<const std::uint64_t> pods, Duration until);

  /// Events before each of `ends`, which increase, of a history that is known so far.
  std::vector<std::uint64_t> count_events(CardHistory& history, std::span<const std::uint64_t> pods,
                                          std::span<const Duration> ends);

 private:
  static std::unique_ptr<CardSimulation> take_over(CardHistory& history);
  std::unique_ptr<CardSimulation> simulation_of(const CardHistory& history, std::span<const std::uint64_t> pods) const;

  const ClusterInput& input_;
  const PodKinds& kinds_;
  std::map<EmptyCard, CardHistory> empty_;
};

}  // namespace corun

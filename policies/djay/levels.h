#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/djay/knapsack.h"

namespace corun {

/// Which quality level each game should have: a Multiple Choice Knapsack, and what keeps its answers from flickering.
///
/// Levels that do not fit are left at once. Levels that fit are left only for a gain worth having, around the games
/// that changed lately. An upgrade is held back while the first frame at the new level, which costs more than those
/// that follow, would not fit.
class LevelChooser {
 public:
  enum class Objective : std::uint8_t { kSum, kMaxMin };
  enum class Solver : std::uint8_t { kGreedyHull, kExact, kBins };
  struct Settings {
    Objective objective = Objective::kSum;
    Solver solver = Solver::kGreedyHull;
    Duration bin{std::chrono::microseconds{100}};  ///< of kBins
    double hysteresis_gain = 0.0;                  ///< of value, that each changed game must bring on average
    Duration reserve{};                            ///< what first frames at a new level may take beyond the budget
  };

  /// A game that may have one of several levels.
  struct Contender {
    Menu menu;                  ///< by level: predicted GPU time, and what the level is worth
    std::uint32_t current = 0;  ///< level that it has
    bool may_change = true;     ///< though the levels fit; if not, it still does not have to stay where they do not fit
    Duration switch_cost{};     ///< what its first frame at another level takes more
  };

  struct Answer {
    std::vector<std::uint32_t> levels;  ///< by contender
    std::vector<bool> is_held_back;     ///< by contender: it would get a better level but for its switch cost
    bool fits = false;                  ///< the predicted sum is within the budget
    std::vector<std::uint32_t> others;  ///< by menu of the others, index into it
  };

  explicit LevelChooser(const Settings& settings) : settings_(settings) {}

  /// The levels to have from now on. If even the cheapest do not fit `budget`, those. `pending` is what first frames at
  /// levels chosen before, not rendered yet, will take more.
  ///
  /// `others` share the budget and have no level to keep: the best of what both are worth together is looked for, and
  /// what levels and first frames then leave is theirs. Not with kMaxMin.
  Answer choose(std::span<const Contender> contenders, Duration budget, Duration pending = {},
                std::span<const Menu> others = {}) const;

 private:
  /// One question: who contends for which budget with which others.
  struct Question {
    std::span<const Contender> contenders;
    Duration budget;
    std::span<const Menu> others;
  };
  std::vector<Menu> biased_menus(const Question& question) const;
  MenuChoice solve(std::span<const Menu> menus, Duration budget) const;
  std::vector<std::uint32_t> best_around_settled(const Question& question) const;
  std::vector<std::uint32_t> best_without_rash_upgrades(const Question& question) const;
  std::vector<bool> hold_back(std::span<const Contender> contenders, std::vector<std::uint32_t>& levels,
                              Duration room) const;
  bool is_worth_it(const Question& question, const std::vector<std::uint32_t>& levels) const;
  MenuChoice best_of_others(const Question& question, const std::vector<std::uint32_t>& levels) const;

  const Settings settings_;
};

}  // namespace corun

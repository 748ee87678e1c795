#include "policies/djay/knapsack.h"

#include <gtest/gtest.h>
// rapidcheck's own header must come after GoogleTest's.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/support/menu_families.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;

using Menus = std::vector<Menu>;
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Everything there is to know about small menus: each choice is tried. Values are whole numbers, so sums are exact.
struct Everything {
  double most = kNone;                      ///< largest sum that fits
  Duration cost_of_most = Duration::max();  ///< of the cheapest choice with that sum
  double fairest = kNone;                   ///< largest smallest value
  double most_of_fairest = kNone;           ///< largest sum with that smallest value

  Everything(std::span<const Menu> menus, Duration budget) : budget_(budget) {
    visit(menus, Duration::zero(), 0.0, std::numeric_limits<double>::infinity());
  }
  bool fits() const { return most > kNone; }

 private:
  void visit(std::span<const Menu> menus, Duration cost, double sum, double smallest) {
    if (cost > budget_) return;
    if (menus.empty()) return end(cost, sum, smallest);
    for (const MenuItem& item : menus[0])
      visit(menus.subspan(1), cost + item.cost, sum + item.value, std::min(smallest, item.value));
  }
  void end(Duration cost, double sum, double smallest) {
    if (sum > most || (sum == most && cost < cost_of_most)) cost_of_most = cost;
    most = std::max(most, sum);
    if (smallest > fairest) most_of_fairest = kNone;
    fairest = std::max(fairest, smallest);
    if (smallest == fairest) most_of_fairest = std::max(most_of_fairest, sum);
  }
  const Duration budget_;
};

double smallest_value(const Menus& menus, const MenuChoice& choice) {
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < menus.size(); ++i) smallest = std::min(smallest, menus[i][choice.items[i]].value);
  return smallest;
}

std::string text(const Menus& menus, Duration budget) {
  std::string all = "budget " + std::to_string(budget.count());
  for (const Menu& menu : menus) {
    all += " |";
    for (const MenuItem& item : menu)
      all += " " + std::to_string(item.cost.count()) + ":" + std::to_string(static_cast<int>(item.value));
  }
  return all;
}

MenuChoice choose_in_bins_of_one(std::span<const Menu> menus, Duration budget) {
  return choose_in_bins(menus, budget, 1ns);
}

/// Holds every solver to what trying everything finds. Costs are a few nanoseconds: bins of one round nothing.
void expect_right(const Menus& menus, Duration budget) {
  const Everything all(menus, budget);
  const MenuChoice exact = choose_exactly(menus, budget), greedy = choose_greedily(menus, budget),
                   bins = choose_in_bins_of_one(menus, budget), fair = choose_fairest(menus, budget, choose_exactly);
  for (const MenuChoice& choice : {exact, greedy, bins, fair})
    ASSERT_EQ(choice.fits, all.fits()) << text(menus, budget);
  if (!all.fits()) return;
  ASSERT_EQ(exact.value, all.most) << text(menus, budget);
  ASSERT_EQ(exact.cost, all.cost_of_most) << text(menus, budget);
  ASSERT_EQ(bins.value, all.most) << text(menus, budget);
  ASSERT_LE(all.most - greedy.value, 0.005 * std::abs(greedy.value)) << text(menus, budget);
  ASSERT_EQ(smallest_value(menus, fair), all.fairest) << text(menus, budget);
  ASSERT_EQ(fair.value, all.most_of_fairest) << text(menus, budget);
}

/// All menus of one to `most` different items with costs 1 to `costs` and values 0 to `values` - 1.
Menus every_menu(std::size_t costs, std::size_t values, std::size_t most) {
  Menus all;
  for (std::uint32_t subset = 1; subset < 1U << (costs * values); ++subset) {
    Menu menu;
    for (std::size_t i = 0; i < costs * values; ++i)
      if (subset >> i & 1U) menu.push_back({Duration{1 + i / values}, static_cast<double>(i % values)});
    if (menu.size() <= most) all.push_back(menu);
  }
  return all;
}

/// Every row of `count` menus out of `choices`, whatever their order, with every budget that could matter.
void expect_right_for_every_row(const Menus& choices, std::size_t count, std::int64_t most_cost, Menus row = {},
                                std::size_t first = 0) {
  if (row.size() < count) {
    row.emplace_back();
    for (std::size_t i = first; i < choices.size(); ++i) {
      row.back() = choices[i];
      ASSERT_NO_FATAL_FAILURE(expect_right_for_every_row(choices, count, most_cost, row, i));
    }
    return;
  }
  const auto players = static_cast<std::int64_t>(count);
  for (std::int64_t budget = players - 1; budget <= players * most_cost; ++budget)
    ASSERT_NO_FATAL_FAILURE(expect_right(row, Duration{budget}));
}

TEST(Knapsack, EqualsTryingEverythingOnEveryInstanceOfUpToFourMenusOverTwoCostsAndTwoValues) {
  for (std::size_t menus = 1; menus <= 4; ++menus) expect_right_for_every_row(every_menu(2, 2, 4), menus, 2);
}

TEST(Knapsack, EqualsTryingEverythingOnEveryPairOfMenusOfUpToThreeItemsOverThreeCostsAndThreeValues) {
  expect_right_for_every_row(every_menu(3, 3, 3), 2, 3);
}

TEST(Knapsack, EqualsTryingEverythingOnVeryManyRandomInstancesOfUpToFourMenusOfFour) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40'000; ++round) {
    Menus menus(1 + random() % 4);
    for (Menu& menu : menus)
      for (std::size_t items = 1 + random() % 4; items > 0; --items)
        menu.push_back({Duration{random() % 9}, static_cast<double>(random() % 12) - 1.0});
    const Duration budget{static_cast<std::int64_t>(random() % 34) - 1};
    ASSERT_NO_FATAL_FAILURE(expect_right(menus, budget));
  }
}

/// Worst and mean part of the exact value that a solver misses.
struct Gap {
  double worst = 0.0, sum = 0.0;
  int cases = 0;

  void add(const MenuChoice& choice, const MenuChoice& exact) {
    worst = std::max(worst, 1.0 - choice.value / exact.value);
    sum += 1.0 - choice.value / exact.value;
    ++cases;
  }
};

TEST(Knapsack, GreedyIsWithinHalfAPercentOfExactForEveryFamilyFrom2To64MenusOf2To32Items) {
  RandomMenus random(2);
  for (const MenuFamily family : kMenuFamilies) {
    Gap gap;
    for (const std::size_t menus : {2U, 3U, 4U, 6U, 8U, 16U, 64U})
      for (const std::size_t items : {2U, 3U, 4U, 8U, 32U})
        for (std::size_t round = 0; round < std::max<std::size_t>(1, 64 / menus); ++round) {
          const Menus drawn = random.draw(family, menus, items);
          const Duration budget = random.budget(drawn);
          const MenuChoice exact = choose_exactly(drawn, budget), greedy = choose_greedily(drawn, budget);
          ASSERT_TRUE(exact.fits && greedy.fits);
          ASSERT_LE(greedy.cost, budget);
          ASSERT_LE(greedy.value, exact.value * (1 + 1e-12));
          gap.add(greedy, exact);
        }
    EXPECT_LT(gap.worst, 0.005) << to_string(family);
    EXPECT_LT(gap.sum / gap.cases, 0.001) << to_string(family);
  }
}

TEST(Knapsack, BinsOfATenthOfAMillisecondLoseAFractionOfAPercentOnAverage) {
  RandomMenus random(3);
  for (const MenuFamily family : kMenuFamilies) {
    Gap gap;
    for (int round = 0; round < 200; ++round) {
      const Menus drawn = random.draw(family, 2 + random.up_to(4), 8);
      const Duration budget = random.budget(drawn);
      const MenuChoice exact = choose_exactly(drawn, budget), bins = choose_in_bins(drawn, budget);
      ASSERT_TRUE(bins.fits);
      gap.add(bins, exact);
    }
    EXPECT_LT(gap.sum / gap.cases, 0.005) << to_string(family);
  }
}

TEST(Knapsack, GreedyUpgradesTheBestBargainFirst) {
  const Menus menus{{{1ms, 0.7}, {3ms, 1.0}}, {{1ms, 0.5}, {3ms, 1.0}}};
  const MenuChoice choice = choose_greedily(menus, 5ms);
  EXPECT_EQ(choice.items, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(choice.cost, 4ms);
  EXPECT_DOUBLE_EQ(choice.value, 1.7);
}

TEST(Knapsack, EqualBargainsGoToTheFirstMenu) {
  const Menus menus{{{1ms, 0.5}, {3ms, 1.0}}, {{1ms, 0.5}, {3ms, 1.0}}};
  EXPECT_EQ(choose_greedily(menus, 4ms).items, (std::vector<std::uint32_t>{1, 0}));
}

TEST(Knapsack, LevelsBelowTheHullAreForWhatIsLeft) {
  // Quality convex in cost: the middle level is no bargain, but the only upgrade that fits.
  const Menus menus{{{1ms, 0.2}, {2ms, 0.3}, {3ms, 1.0}}};
  EXPECT_EQ(choose_greedily(menus, 2ms).items[0], 1U);
  EXPECT_EQ(choose_greedily(menus, 3ms).items[0], 2U);
  // However little it is worth compared with what the others have.
  const Menus uneven{{{1ms, 100.0}, {3ms, 200.0}}, {{1ms, 0.1}, {2ms, 0.2}, {3ms, 1.0}}};
  EXPECT_EQ(choose_greedily(uneven, 5ms).items, (std::vector<std::uint32_t>{1, 1}));
}

TEST(Knapsack, WhatUpgradesOneByOneWouldMissByFarIsSearchedFor) {
  // The better bargain of 1 ms leaves no room for the upgrade of 3 ms that is worth more.
  const Menus menus{{{1ms, 0.0}, {2ms, 0.6}}, {{1ms, 0.0}, {4ms, 1.0}}};
  EXPECT_DOUBLE_EQ(choose_greedily(menus, 5ms).value, 1.0);
}

TEST(Knapsack, BinsRoundUpAndNeverExceedTheBudget) {
  // Upgrades of 1.5 ms count as 2 ms: of 3 ms one is bought in bins of 1 ms, and the other with what is left.
  const Menus menus{{{1ms, 0.0}, {2'500'000ns, 1.0}}, {{1ms, 0.0}, {2'500'000ns, 1.0}}};
  EXPECT_DOUBLE_EQ(choose_in_bins(menus, 5ms, 1ms).value, 2.0);
  EXPECT_DOUBLE_EQ(choose_in_bins(menus, 4ms, 2ms).value, 1.0);
  // Of 1.5 ms nothing is to be had in bins of 2 ms but what fills the rest.
  const Menus one{{{1ms, 0.0}, {2ms, 0.5}, {3ms, 1.0}}};
  EXPECT_DOUBLE_EQ(choose_in_bins(one, 2'500'000ns, 2ms).value, 0.5);
}

TEST(Knapsack, FairestChoiceLiftsTheWorstOffBeforeAnyoneElse) {
  const Menus menus{{{1ms, 0.2}, {3ms, 0.5}, {6ms, 0.6}}, {{1ms, 0.4}, {3ms, 0.99}}};
  EXPECT_EQ(choose_exactly(menus, 4ms).items, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(choose_fairest(menus, 4ms).items, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(choose_fairest(menus, 6ms).items, (std::vector<std::uint32_t>{1, 1}));
}

TEST(Knapsack, WeightOfAMenuDecidesWhoseUpgradeIsBought) {
  const Menus menus{{{1ms, 0.5}, {3ms, 0.9}}, {{1ms, 0.5}, {3ms, 0.8}}};
  const double weights[] = {1.0, 2.0};
  EXPECT_EQ(choose_exactly(menus, 4ms).items, (std::vector<std::uint32_t>{1, 0}));
  const MenuChoice choice = choose_exactly(weighted(menus, weights), 4ms);
  EXPECT_EQ(choice.items, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_DOUBLE_EQ(price(menus, choice.items, 4ms).value, 1.3);
}

constexpr Solver kSolvers[] = {
    choose_greedily, choose_exactly, choose_in_bins_of_one,
    [](std::span<const Menu> menus, Duration budget) { return choose_fairest(menus, budget); }};

TEST(Knapsack, CheapestItemsAreChosenIfNothingFits) {
  const Menus menus{{{5ns, 1.0}, {2ns, 0.5}}, {{4ns, 1.0}, {3ns, 0.1}}};
  for (const Solver solve : kSolvers) {
    const MenuChoice choice = solve(menus, 4ns);
    EXPECT_FALSE(choice.fits);
    EXPECT_EQ(choice.items, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(choice.cost, 5ns);
  }
}

TEST(Knapsack, NoMenusAreAnsweredByNoItems) {
  for (const Solver solve : kSolvers) {
    EXPECT_TRUE(solve({}, 1ms).fits);
    EXPECT_TRUE(solve({}, 1ms).items.empty());
  }
}

TEST(Knapsack, UnlimitedBudgetBuysTheBestOfEverything) {
  const Menus menus{{{5ns, 1.0}, {2ns, 0.5}}, {{4ns, 1.0}, {3ns, 0.1}}};
  for (const Solver solve : kSolvers) EXPECT_EQ(solve(menus, Duration::max()).value, 2.0);
}

// Laws, on menus with whole values and costs of a few nanoseconds.

Menus any_menus() {
  const auto item =
      rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 60), rc::gen::inRange(0, 100)), [](std::pair<int, int> drawn) {
        return MenuItem{Duration{drawn.first}, static_cast<double>(drawn.second)};
      });
  const auto menu = rc::gen::mapcat(rc::gen::inRange(1, 9), [=](int items) {
    return rc::gen::container<Menu>(static_cast<std::size_t>(items), item);
  });
  const auto count = *rc::gen::inRange<std::size_t>(1, 9);
  return *rc::gen::container<Menus>(count, menu);
}

Duration any_budget() { return Duration{*rc::gen::inRange(0, 500)}; }

std::vector<std::uint32_t> cheapest_items(const Menus& menus) {
  std::vector<std::uint32_t> items;
  for (const Menu& menu : menus)
    items.push_back(static_cast<std::uint32_t>(std::ranges::min_element(menu, {}, &MenuItem::cost) - menu.begin()));
  return items;
}

RC_GTEST_PROP(KnapsackLaws, AnswerFitsIfAnythingFitsAndIsNeverWorthLessThanTheCheapestItems, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  const MenuChoice cheapest = price(menus, cheapest_items(menus), budget);
  for (const Solver solve : kSolvers) {
    const MenuChoice choice = solve(menus, budget);
    RC_ASSERT(choice.fits == cheapest.fits);
    RC_ASSERT(choice.fits == (choice.cost <= budget));
    RC_ASSERT(choice.value >= cheapest.value);
    RC_ASSERT(choice.value <= choose_exactly(menus, budget).value);
    if (!cheapest.fits) RC_ASSERT(choice.cost == cheapest.cost);
  }
}

RC_GTEST_PROP(KnapsackLaws, GreedyIsWithinHalfAPercentOfExact, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  RC_ASSERT(choose_greedily(menus, budget).value * 1.005 >= choose_exactly(menus, budget).value);
}

RC_GTEST_PROP(KnapsackLaws, MoreBudgetNeverGivesLess, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  const Duration more = budget + Duration{*rc::gen::inRange(0, 100)};
  RC_PRE(choose_exactly(menus, budget).fits);
  RC_ASSERT(choose_exactly(menus, more).value >= choose_exactly(menus, budget).value);
  RC_ASSERT(smallest_value(menus, choose_fairest(menus, more)) >= smallest_value(menus, choose_fairest(menus, budget)));
}

RC_GTEST_PROP(KnapsackLaws, OrderOfMenusAndItemsDoesNotMatter, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  Menus other = menus;
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::ranges::shuffle(other, random);
  for (Menu& menu : other) std::ranges::shuffle(menu, random);
  const MenuChoice one = choose_exactly(menus, budget), two = choose_exactly(other, budget);
  RC_ASSERT(one.value == two.value || !one.fits);
  RC_ASSERT(one.cost == two.cost);
  RC_ASSERT(smallest_value(menus, choose_fairest(menus, budget)) ==
            smallest_value(other, choose_fairest(other, budget)));
}

RC_GTEST_PROP(KnapsackLaws, ItemThatAnotherBeatsIsNeverChosenAndChangesNothing, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  Menus more = menus;
  for (Menu& menu : more) menu.push_back({menu[0].cost + Duration{1}, menu[0].value});
  for (const Solver solve : kSolvers) RC_ASSERT(solve(more, budget).items == solve(menus, budget).items);
}

RC_GTEST_PROP(KnapsackLaws, FairestChoiceLeavesNobodyWorseOffThanTheWorstOffOfAnyOther, ()) {
  const Menus menus = any_menus();
  const Duration budget = any_budget();
  const MenuChoice fair = choose_fairest(menus, budget);
  RC_PRE(fair.fits);
  for (const Solver solve : kSolvers)
    RC_ASSERT(smallest_value(menus, fair) >= smallest_value(menus, solve(menus, budget)));
}

}  // namespace
}  // namespace corun

#include "policies/knapsack.h"

#include <gtest/gtest.h>

#include <random>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

/// Menus with values that grow with cost, as settings do; the same for every run and machine.
std::vector<Menu> random_menus(std::mt19937_64& random, std::size_t menus, std::size_t items) {
  std::vector<Menu> all;
  for (std::size_t i = 0; i < menus; ++i) {
    Menu menu;
    for (std::size_t j = 0; j < items; ++j) {
      const auto cost = static_cast<std::int64_t>(1'000'000 + random() % 15'000'000);
      const double noise = static_cast<double>(random() % 1000) / 1000.0;
      menu.push_back({Duration{cost}, static_cast<double>(cost) / 2e7 + 0.3 * noise});
    }
    all.push_back(menu);
  }
  return all;
}

/// The best value that fits, by trying everything; negative if nothing fits.
double brute_force(std::span<const Menu> menus, Duration budget) {
  if (budget < Duration::zero()) return -1e9;
  if (menus.empty()) return 0.0;
  double best = -1e9;
  for (const MenuItem& item : menus[0])
    best = std::max(best, item.value + brute_force(menus.subspan(1), budget - item.cost));
  return best;
}

TEST(Knapsack, exact_answer_equals_trying_everything_up_to_four_menus_of_four) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto menus = random_menus(random, 1 + random() % 4, 1 + random() % 4);
    const Duration budget{static_cast<std::int64_t>(random() % 50'000'000)};
    const MenuChoice choice = choose_exactly(menus, budget);
    const double best = brute_force(menus, budget);
    ASSERT_EQ(choice.fits, best >= 0.0);
    if (choice.fits) {
      ASSERT_NEAR(choice.value, best, 1e-9);
    }
  }
}

/// Menus as quality settings give them: the dearer a level, the less it adds, give or take.
std::vector<Menu> quality_menus(std::mt19937_64& random, std::size_t menus, std::size_t items) {
  std::vector<Menu> all;
  for (std::size_t i = 0; i < menus; ++i) {
    Menu menu;
    const double best_cost = 5e6 + static_cast<double>(random() % 15'000'000);
    for (std::size_t j = 0; j < items; ++j) {
      const double ratio = 0.2 + static_cast<double>(random() % 800) / 1000.0;
      const double noise = static_cast<double>(random() % 1000) / 1000.0 * 0.05;
      const double quality = 1.0 - 0.5 * (1.0 - ratio) * (1.0 - ratio) - noise;
      menu.push_back({Duration{static_cast<std::int64_t>(best_cost * ratio)}, quality});
    }
    all.push_back(menu);
  }
  return all;
}

TEST(Knapsack, greedy_loses_less_than_one_percent_on_menus_of_quality_levels) {
  std::mt19937_64 random(2);
  double lost = 0.0, most = 0.0;
  int cases = 0;
  for (int round = 0; round < 400; ++round) {
    const auto menus = quality_menus(random, 2 + random() % 5, 8);
    const Duration budget{static_cast<std::int64_t>(menus.size() * (4'000'000 + random() % 8'000'000))};
    const MenuChoice exact = choose_exactly(menus, budget);
    const MenuChoice greedy = choose_greedily(menus, budget);
    if (!exact.fits) continue;
    ASSERT_TRUE(greedy.fits);
    ASSERT_LE(greedy.cost, budget);
    ASSERT_LE(greedy.value, exact.value + 1e-9);
    lost += 1.0 - greedy.value / exact.value;
    most = std::max(most, 1.0 - greedy.value / exact.value);
    ++cases;
  }
  EXPECT_GT(cases, 300);
  EXPECT_LT(lost / cases, 0.01);
  EXPECT_LT(most, 0.05);
}

TEST(Knapsack, greedy_upgrades_the_best_bargain_first) {
  const std::vector<Menu> menus{{{1ms, 0.7}, {3ms, 1.0}}, {{1ms, 0.5}, {3ms, 1.0}}};
  const MenuChoice choice = choose_greedily(menus, 5ms);
  EXPECT_EQ(choice.items, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(choice.cost, 4ms);
  EXPECT_DOUBLE_EQ(choice.value, 1.7);
}

TEST(Knapsack, greedy_uses_levels_below_the_hull_only_for_what_is_left) {
  // Quality convex in cost: the middle level is no bargain, but the only upgrade that fits.
  const std::vector<Menu> menus{{{1ms, 0.2}, {2ms, 0.3}, {3ms, 1.0}}};
  EXPECT_EQ(choose_greedily(menus, 2ms).items[0], 1U);
  EXPECT_EQ(choose_greedily(menus, 3ms).items[0], 2U);
}

TEST(Knapsack, greedy_is_not_always_the_best) {
  const std::vector<Menu> menus{{{1ms, 0.0}, {2ms, 0.6}}, {{1ms, 0.0}, {4ms, 1.0}}};
  EXPECT_DOUBLE_EQ(choose_greedily(menus, 5ms).value, 0.6);
  EXPECT_DOUBLE_EQ(choose_exactly(menus, 5ms).value, 1.0);
}

TEST(Knapsack, cheapest_items_are_chosen_if_nothing_fits) {
  const std::vector<Menu> menus{{{5ms, 1.0}, {2ms, 0.5}}, {{4ms, 1.0}, {3ms, 0.1}}};
  for (const MenuChoice& choice : {choose_greedily(menus, 4ms), choose_exactly(menus, 4ms)}) {
    EXPECT_FALSE(choice.fits);
    EXPECT_EQ(choice.items, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(choice.cost, 5ms);
  }
}

TEST(Knapsack, no_menus_are_answered_by_no_items) {
  EXPECT_TRUE(choose_greedily({}, 1ms).fits);
  EXPECT_TRUE(choose_exactly({}, 1ms).items.empty());
}

}  // namespace
}  // namespace corun

#include "policies/djay/knapsack_offers.h"

#include <gtest/gtest.h>

#include <limits>

namespace corun {
namespace {

using std::chrono_literals::operator""ns;

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

/// Two menus: one whose steps are worth less and less, and one whose middle item lies below the hull.
std::vector<Offers> two_menus() {
  return undominated(
      std::vector<Menu>{{{100ns, 0.0}, {200ns, 60.0}, {400ns, 80.0}}, {{100ns, 0.0}, {300ns, 40.0}, {400ns, 100.0}}});
}

TEST(KnapsackOffers, AreThoseThatNoOtherItemBeatsTheCheapestFirst) {
  const std::vector<Offers> offers =
      undominated(std::vector<Menu>{{{5ns, 1.0}, {2ns, 0.5}, {4ns, 1.0}, {2ns, 0.7}, {4ns, 1.0}}});
  ASSERT_EQ(offers[0].size(), 2U);
  EXPECT_EQ(offers[0][0].cost, 2ns);
  EXPECT_EQ(offers[0][0].value, 0.7);
  EXPECT_EQ(offers[0][0].item, 3U);
  EXPECT_EQ(offers[0][1].cost, 4ns);
  EXPECT_EQ(offers[0][1].item, 2U) << "of items alike the first";
}

TEST(KnapsackOffers, UpgradesAreTheStepsOfTheHullsTheBestBargainFirst) {
  const std::vector<Upgrade> upgrades = hull_upgrades(two_menus());
  ASSERT_EQ(upgrades.size(), 3U);
  const std::size_t menus[] = {0, 1, 0}, to[] = {1, 2, 2};
  const Duration costs[] = {100ns, 300ns, 200ns};
  const double gains[] = {60, 100, 20}, bargains[] = {0.6, 1.0 / 3, 0.1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(upgrades[i].menu, menus[i]);
    EXPECT_EQ(upgrades[i].to, to[i]);
    EXPECT_EQ(upgrades[i].cost, costs[i]);
    EXPECT_EQ(upgrades[i].gain, gains[i]);
    EXPECT_DOUBLE_EQ(upgrades[i].bargain, bargains[i]) << "per nanosecond";
  }
}

TEST(KnapsackOffers, StepsOfOneSlopeAreAllOnTheHullAndThoseOfTheFirstMenuComeFirst) {
  const Menu straight{{1ns, 0.0}, {2ns, 1.0}, {3ns, 2.0}};
  const std::vector<Upgrade> upgrades = hull_upgrades(undominated(std::vector<Menu>{straight, straight}));
  ASSERT_EQ(upgrades.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(upgrades[i].menu, i / 2);
    EXPECT_EQ(upgrades[i].to, 1 + i % 2);
  }
}

TEST(LinearBound, LastUpgradeMayBeTakenInPart) {
  const std::vector<Offers> offers = two_menus();
  const LinearBound bound(offers, hull_upgrades(offers), 0);
  EXPECT_EQ(bound.most(199ns), kNever);
  EXPECT_DOUBLE_EQ(bound.most(200ns), 0.0);
  EXPECT_DOUBLE_EQ(bound.most(250ns), 30.0);
  EXPECT_DOUBLE_EQ(bound.most(300ns), 60.0);
  EXPECT_DOUBLE_EQ(bound.most(450ns), 110.0);
  EXPECT_DOUBLE_EQ(bound.most(600ns), 160.0);
  EXPECT_DOUBLE_EQ(bound.most(700ns), 170.0);
  EXPECT_DOUBLE_EQ(bound.most(800ns), 180.0);
  EXPECT_DOUBLE_EQ(bound.most(10'000ns), 180.0) << "there is no more";
}

TEST(LinearBound, LeavesOutTheMenusBeforeTheFirst) {
  const std::vector<Offers> offers = two_menus();
  const std::vector<Upgrade> upgrades = hull_upgrades(offers);
  const LinearBound second(offers, upgrades, 1);
  EXPECT_EQ(second.most(99ns), kNever);
  EXPECT_DOUBLE_EQ(second.most(100ns), 0.0);
  EXPECT_DOUBLE_EQ(second.most(250ns), 50.0);
  EXPECT_DOUBLE_EQ(second.most(900ns), 100.0);
  EXPECT_DOUBLE_EQ(LinearBound(offers, upgrades, 2).most(0ns), 0.0) << "no menu is left";
}

std::vector<std::size_t> found(const std::vector<Offers>& offers, Duration budget, double least,
                               std::size_t width = kAnyWidth) {
  return search(offers, hull_upgrades(offers), budget, least, width);
}

TEST(KnapsackSearch, FindsTheMostValuableChoiceThatFitsIfItIsWorthEnough) {
  EXPECT_EQ(found(two_menus(), 600ns, 0.0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(found(two_menus(), 599ns, 0.0), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(found(two_menus(), 599ns, 100.0), (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(found(two_menus(), 599ns, 161.0).empty()) << "not even fractions are worth so much";
  EXPECT_TRUE(found(two_menus(), 199ns, 0.0).empty()) << "nothing fits";
}

TEST(KnapsackSearch, TakesTheCheapestOfEqualValues) {
  const std::vector<Offers> offers = undominated(std::vector<Menu>{{{1ns, 0.0}, {4ns, 5.0}}, {{1ns, 0.0}, {3ns, 5.0}}});
  EXPECT_EQ(found(offers, 6ns, 0.0), (std::vector<std::size_t>{0, 1}));
}

TEST(KnapsackSearch, NarrowSearchFollowsWhatPromisesMost) {
  const std::vector<Offers> offers =
      undominated(std::vector<Menu>{{{1ns, 0.0}, {11ns, 10.0}}, {{1ns, 0.0}, {11ns, 11.0}}});
  EXPECT_EQ(found(offers, 12ns, 0.0, 1), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(found(offers, 12ns, 0.0, 2), (std::vector<std::size_t>{0, 1}));
  const std::vector<Offers> other =
      undominated(std::vector<Menu>{{{1ns, 0.0}, {11ns, 11.0}}, {{1ns, 0.0}, {11ns, 10.0}}});
  EXPECT_EQ(found(other, 12ns, 0.0, 1), (std::vector<std::size_t>{1, 0}));
}

}  // namespace
}  // namespace corun

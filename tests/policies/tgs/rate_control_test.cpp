// TGS's rate control and its boundaries: when a rate counts as disturbed, learnt anew, idle or collapsed.

#include "policies/tgs/rate_control.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

constexpr double kTop = 100'000;              // blocks per window
constexpr double kUnlimited = 1099511627776;  // 2^40 blocks

/// The artifact's control.
TgsRateControl unprofiled(std::int64_t reports = 5) {
  return TgsRateControl({.band = 0.03,
                         .growth = 1.5,
                         .increase = 0.025,
                         .decrease = 0.08,
                         .collapse = 10,
                         .initial_limit = 20'000,
                         .profile_reports = reports});
}

void report(TgsRateControl& control, int times, double rate) {
  for (int i = 0; i < times; ++i) control.report(rate);
}

/// After its profile, and so many reports of the undisturbed rate.
TgsRateControl settled(int reports, double top = kTop) {
  TgsRateControl control = unprofiled();
  report(control, 5 + reports, top);
  return control;
}

TEST(TgsRateControl, StopsTheOthersWhileItLearnsTheUndisturbedRate) {
  TgsRateControl control = settled(0);
  EXPECT_FALSE(control.is_profiling());
  EXPECT_EQ(control.limit(), 0);
  EXPECT_EQ(control.top_rate(), 100'000);
}

TEST(TgsRateControl, TheFirstReportIsTheTopRateAsItIs) {
  TgsRateControl control = unprofiled();
  control.report(100'000);
  EXPECT_EQ(control.top_rate(), 100'000);
  control.report(140'000);  // the largest mean of two neighbours, 120,000, is a fifth more: 97.5 % of it count
  control.report(0);
  EXPECT_EQ(control.top_rate(), 0.975 * 120'000);
}

TEST(TgsRateControl, SlowStartGrowsByHalfWhileTheRateStaysInTheBand) {
  TgsRateControl control = settled(0);
  control.report(100'000);
  EXPECT_EQ(control.limit(), 20'000);
  control.report(97'500);
  EXPECT_EQ(control.limit(), 30'001);
  control.report(100'000);
  EXPECT_EQ(control.limit(), 45'002.5);
}

TEST(TgsRateControl, FirstDisturbanceEndsSlowStartAndThenStepsAreAdditive) {
  TgsRateControl control = settled(0);
  for (int i = 0; i < 3; ++i) control.report(100'000);
  control.report(96'000);  // 4 %
  EXPECT_FALSE(control.is_slow_start());
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5, 0.01);
  control.report(100'000);
  EXPECT_NEAR(control.limit(), 45'002.5 / 1.5 + 2'500, 0.01);
}

TEST(TgsRateControl, DisturbanceTakesAShareOfTheLimitAndACollapseMostOfIt) {
  TgsRateControl control = settled(0);
  for (int i = 0; i < 8; ++i) control.report(100'000);
  control.report(96'000);
  const double limit = control.limit();
  control.report(95'000);
  EXPECT_NEAR(control.limit(), 0.92 * limit, 0.01);
  control.report(90'000);  // 10 %: three bands
  EXPECT_NEAR(control.limit(), 0.92 * 0.92 * limit / 10, 0.01);
  EXPECT_TRUE(control.is_slow_start());
}

TEST(TgsRateControl, LearnsAnewWhenTheHighPriorityJobHasChanged) {
  TgsRateControl control = settled(0);
  for (int i = 0; i < 20; ++i) control.report(40'000);
  EXPECT_NEAR(control.top_rate(), 40'000, 1'500);
}

TEST(TgsRateControl, IdleHighPrioritySideFreesTheOthers) {
  TgsRateControl control = settled(0);
  for (int i = 0; i < 40; ++i) control.report(0);
  EXPECT_GT(control.limit(), 1e11);
}

TEST(TgsRateControl, ProfileOfOneReportTakesItForTheUndisturbedRate) {
  TgsRateControl control = unprofiled(1);
  EXPECT_TRUE(control.is_profiling());
  control.report(kTop);
  EXPECT_FALSE(control.is_profiling());
  EXPECT_DOUBLE_EQ(control.top_rate(), kTop);
}

TEST(TgsRateControl, ProfileLastsUntilTheRateHasBeenStable) {
  TgsRateControl control = unprofiled(4);
  control.report(100'000);
  report(control, 2, 150'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 0.975 * 125'000) << "the mean of the first two reports";
  control.report(150'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 0.975 * 150'000);
  EXPECT_TRUE(control.is_profiling()) << "the fourth report, but the rate has just risen";
  control.report(150'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 150'000);
  EXPECT_FALSE(control.is_profiling());
}

TEST(TgsRateControl, RateThatFellByMoreThanAFifthIsProfiledAnew) {
  TgsRateControl control = settled(0);
  report(control, 4, 40'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), kTop) << "two of the five reports before were of 100,000";
  EXPECT_FALSE(control.is_profiling());
  control.report(40'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 1.025 * 70'000);
  EXPECT_TRUE(control.is_profiling());
  control.report(40'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 41'000);
  report(control, 3, 40'000);
  EXPECT_TRUE(control.is_profiling());
  control.report(40'000);
  EXPECT_FALSE(control.is_profiling());
  EXPECT_DOUBLE_EQ(control.top_rate(), 41'000) << "40,000 is within the tolerance, and less";
}

TEST(TgsRateControl, ATenthAboveTheTopRateRaisesItAndAFifthDoesNot) {
  TgsRateControl tenth = settled(0);
  report(tenth, 2, 120'000);
  EXPECT_EQ(tenth.top_rate(), 110'000) << "100,000 and 120,000 on average";
  TgsRateControl more = settled(0);
  report(more, 2, 122'000);
  EXPECT_EQ(more.top_rate(), kTop) << "11 percent";
  TgsRateControl fifth = settled(0);
  report(fifth, 2, 140'000);
  EXPECT_EQ(fifth.top_rate(), kTop);
  EXPECT_FALSE(fifth.is_profiling());
  TgsRateControl beyond = settled(0);
  report(beyond, 2, 142'000);
  EXPECT_DOUBLE_EQ(beyond.top_rate(), 0.975 * 121'000);
  EXPECT_TRUE(beyond.is_profiling());
}

TEST(TgsRateControl, RateInTheBandLetsSlowStartGoOnUpToItsEdge) {
  for (const double rate : {97'000.0, 103'000.0}) {
    TgsRateControl control = settled(1);
    control.report(rate);
    EXPECT_DOUBLE_EQ(control.limit(), 30'001) << rate;
  }
  TgsRateControl control = settled(1);
  control.report(96'999);
  EXPECT_FALSE(control.is_slow_start());
  EXPECT_DOUBLE_EQ(control.limit(), 20'000 / 1.5);
}

TEST(TgsRateControl, RateAtTheEdgeOfTheBandRaisesTheLimitOnceInARow) {
  TgsRateControl control = settled(3);
  control.report(96'000);
  double limit = control.limit();
  control.report(97'000);
  EXPECT_DOUBLE_EQ(control.limit(), limit += 2'500);
  control.report(97'000);
  EXPECT_DOUBLE_EQ(control.limit(), limit -= 0.08 * limit);
  control.report(97'000);
  EXPECT_DOUBLE_EQ(control.limit(), limit += 2'500);
  control.report(97'001);
  EXPECT_DOUBLE_EQ(control.limit(), limit += 2'500);
}

TEST(TgsRateControl, StepsAreAtLeastAThousandBlocksAndTheLimitIsNeverNegative) {
  TgsRateControl control = settled(1, 10'000);
  report(control, 1, 9'600);
  const double limit = 20'000 / 1.5;
  EXPECT_DOUBLE_EQ(control.limit(), limit);
  control.report(10'000);
  EXPECT_DOUBLE_EQ(control.limit(), limit + 1'000) << "2.5 percent of the rate are 250";
  control.report(9'500);
  EXPECT_DOUBLE_EQ(control.limit(), (limit + 1'000) - 0.08 * (limit + 1'000));
  report(control, 3, 9'500);
  const double before = control.limit();
  control.report(9'500);
  EXPECT_DOUBLE_EQ(control.limit(), before - 1'000) << "8 percent are less";
  report(control, 20, 9'500);
  EXPECT_DOUBLE_EQ(control.limit(), 0);
}

TEST(TgsRateControl, CollapseBeginsAtThreeBands) {
  for (const double rate : {91'000.0, 91'001.0}) {
    TgsRateControl control = settled(4);
    control.report(96'000);
    const double limit = control.limit();
    control.report(rate);
    EXPECT_EQ(control.is_slow_start(), rate == 91'000.0);
    EXPECT_NEAR(control.limit(), 0.92 * limit / (rate == 91'000.0 ? 10 : 1), 1e-6);
  }
}

TEST(TgsRateControl, TopRateIsHeldForTooHighAfterTwentyStrainedReportsInARow) {
  TgsRateControl control = settled(0);
  report(control, 19, 88'000);
  control.report(88'001);
  report(control, 19, 88'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), kTop) << "one was not four bands away";
  control.report(88'000);
  EXPECT_DOUBLE_EQ(control.top_rate(), 80'000);
  EXPECT_TRUE(control.is_slow_start());
}

TEST(TgsRateControl, TheLimitIsHalvedWhereTheTopRateIsHeldForTooHigh) {
  TgsRateControl control({.band = 0.03,
                          .growth = 1.5,
                          .increase = 0.025,
                          .decrease = 0.08,
                          .collapse = 1,
                          .initial_limit = 1e9,
                          .profile_reports = 5});
  report(control, 5 + 1, kTop);
  report(control, 19, 88'000);
  const double before = control.limit();
  control.report(88'000);
  EXPECT_DOUBLE_EQ(control.limit(), 0.92 * before / 2);
}

/// After `busy` reports of the undisturbed rate and `idle` ones of `rate`.
double limit_after(int busy, int idle, double rate) {
  TgsRateControl control = settled(busy);
  report(control, idle, rate);
  return control.limit();
}

TEST(TgsRateControl, ThreeIdleReportsOfFiveFreeTheOthersFromTheFifteenthOn) {
  EXPECT_EQ(limit_after(12, 3, 9.9), kUnlimited);
  EXPECT_LT(limit_after(11, 3, 9.9), kUnlimited) << "the third is the fourteenth";
  EXPECT_LT(limit_after(12, 3, 10.0), kUnlimited) << "1000 blocks in 5 s are not idle";
  EXPECT_EQ(limit_after(12, 3, 0.0), kUnlimited);
}

TEST(TgsRateControl, TwoIdleReportsOfFiveBeginSlowStartAnewAfterTheFifteenth) {
  EXPECT_EQ(limit_after(14, 2, 9.9), 20'000);
  EXPECT_NE(limit_after(13, 2, 9.9), 20'000) << "the second is the fifteenth";
  EXPECT_NE(limit_after(14, 2, 10.0), 20'000);
}

}  // namespace
}  // namespace corun

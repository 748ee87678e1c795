#include "policies/parts/launches_ahead.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr ClientId kClient{1};

TEST(LaunchesAhead, NothingIsPromisedToAClientOfWhomNothingIsKnown) {
  LaunchesAhead ahead;
  EXPECT_EQ(ahead.in(5ms, kClient, 1), 0U);
  ahead.launched(kClient, 10us);
  EXPECT_EQ(ahead.in(5ms, ClientId{0}, 1), 0U);
}

TEST(LaunchesAhead, AnySoManyInARowFit) {
  LaunchesAhead ahead;
  for (int i = 0; i < 25; ++i)
    for (const Duration duration : {20us, 40us, 10us, 10us}) ahead.launched(kClient, duration);
  EXPECT_EQ(ahead.in(199us, kClient, 1), 8U) << "four in a row take 80 us, whichever is first, and one 40";
  EXPECT_EQ(ahead.in(200us, kClient, 1), 9U);
  EXPECT_EQ(ahead.in(260us, kClient, 1), 12U);
  EXPECT_EQ(ahead.in(160us, kClient, 2), 4U) << "another one has the same room";
  EXPECT_EQ(ahead.in(40us, kClient, 1), 1U);
  EXPECT_EQ(ahead.in(39us, kClient, 1), 0U);
  EXPECT_EQ(ahead.in(-1us, kClient, 1), 0U);
}

TEST(LaunchesAhead, MoreThanHasBeenSeenCountsAsTwiceTheHalf) {
  LaunchesAhead ahead;
  for (const Duration duration : {20us, 40us}) ahead.launched(kClient, duration);
  EXPECT_EQ(ahead.in(119us, kClient, 1), 3U) << "two take 60 us, one 40";
  EXPECT_EQ(ahead.in(120us, kClient, 1), 4U);
}

TEST(LaunchesAhead, WhatWasMeasuredToTakeLongerCounts) {
  LaunchesAhead ahead;
  ahead.launched(kClient, 10us);
  ahead.measured(kClient, 300us);
  EXPECT_EQ(ahead.in(299us, kClient, 1), 0U);
}

RC_GTEST_PROP(LaunchesAhead, NoStretchOfTheNewestThousandIsLongerThanTheRoom, ()) {
  const auto micros = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 60));
  const Duration room{*rc::gen::inRange(0, 500'000)};
  LaunchesAhead ahead;
  for (const int each : micros) ahead.launched(kClient, Duration{each * 1000});
  const std::size_t count = ahead.in(room, kClient, 1);
  for (std::size_t from = 0; from + count <= micros.size(); ++from) {
    const auto begin = micros.begin() + static_cast<std::ptrdiff_t>(from);
    RC_ASSERT(Duration{std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0) * 1000LL} <= room);
  }
}

TEST(LaunchesAhead, NoMoreThanTwiceTheLongestStretchThatIsKnownPassesUnheard) {
  LaunchesAhead ahead;
  for (int i = 0; i < 1000; ++i) ahead.launched(kClient, 10us);
  EXPECT_EQ(ahead.in(4ms, kClient, 1), 400U);
  EXPECT_EQ(ahead.in(10ms, kClient, 1), 511U) << "256 and all shorter ones";
}

TEST(LaunchesAhead, ALongKernelIsForgottenAfterAThousandOthersAndNoSooner) {
  LaunchesAhead ahead;
  ahead.launched(kClient, 5ms);
  for (int i = 0; i < 1000; ++i) ahead.launched(kClient, 10us);
  EXPECT_EQ(ahead.in(4ms, kClient, 1), 0U);
  for (int i = 0; i < 1000; ++i) ahead.launched(kClient, 10us);
  EXPECT_EQ(ahead.in(4ms, kClient, 1), 400U);
}

}  // namespace
}  // namespace corun

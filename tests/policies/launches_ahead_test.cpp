#include "policies/launches_ahead.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr ClientId kClient{1};

TEST(LaunchesAhead, NothingIsPromisedToAClientOfWhomNothingIsKnown) {
  LaunchesAhead ahead;
  EXPECT_EQ(ahead.in(5ms, kClient, 1), 0U);
  ahead.expects(kClient, 10us);
  EXPECT_EQ(ahead.in(5ms, ClientId{0}, 1), 0U);
}

TEST(LaunchesAhead, AllFitIfEachIsAsLongAsTheLongest) {
  LaunchesAhead ahead;
  for (const Duration duration : {20us, 40us, 10us}) ahead.expects(kClient, duration);
  EXPECT_EQ(ahead.in(200us, kClient, 1), 5U);
  EXPECT_EQ(ahead.in(200us, kClient, 2), 2U) << "another one has the same room";
  EXPECT_EQ(ahead.in(39us, kClient, 1), 0U);
  EXPECT_EQ(ahead.in(-1us, kClient, 1), 0U);
}

TEST(LaunchesAhead, NoMoreThanHalfAMillisecondPassesUnheard) {
  LaunchesAhead ahead;
  ahead.expects(kClient, 10us);
  EXPECT_EQ(ahead.in(10ms, kClient, 1), 50U);
}

TEST(LaunchesAhead, ALongKernelIsForgottenAfterAThousandOthersAndNoSooner) {
  LaunchesAhead ahead;
  ahead.expects(kClient, 5ms);
  for (int i = 0; i < 1000; ++i) ahead.expects(kClient, 10us);
  EXPECT_EQ(ahead.in(5ms, kClient, 1), 0U);
  for (int i = 0; i < 1000; ++i) ahead.expects(kClient, 10us);
  EXPECT_EQ(ahead.in(5ms, kClient, 1), 50U);
}

}  // namespace
}  // namespace corun

#include "policies/parts/sleeping_launch.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

constexpr Duration kRetry = 10ms;

Time after(Duration duration) { return kRunStart + duration; }

TEST(SleepingLaunch, LooksEverySoOftenFromItsFirstLookOnHoweverOftenItIsAsked) {
  SleepingLaunch launch;
  launch.sleep(7, after(3ms));
  for (const auto& [now, next] : {std::pair{3ms, 13ms},
                                  {4ms, 13ms},
                                  {12ms, 13ms},
                                  {13ms, 23ms},
                                  {13ms, 23ms},
                                  {14ms, 23ms},
                                  {52ms, 53ms},
                                  {53ms, 63ms},
                                  {75ms, 83ms}}) {
    EXPECT_EQ(launch.looks(7, after(now), kRetry), (now - 3ms) % kRetry == Duration{}) << now.count();
    EXPECT_EQ(launch.next_look(after(now), kRetry), after(next)) << now.count();
  }
}

TEST(SleepingLaunch, AnotherLaunchLooksAtOnceAndSleepsFromThenOn) {
  SleepingLaunch launch;
  launch.sleep(7, after(3ms));
  EXPECT_TRUE(launch.looks(8, after(5ms), kRetry));
  launch.sleep(8, after(5ms));
  launch.sleep(8, after(6ms));  // it sleeps already
  EXPECT_FALSE(launch.looks(8, after(13ms), kRetry));
  EXPECT_TRUE(launch.looks(8, after(15ms), kRetry));
}

}  // namespace
}  // namespace corun

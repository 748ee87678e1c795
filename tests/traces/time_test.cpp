#include "traces/base/time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <type_traits>

namespace corun {
namespace {

using namespace std::chrono_literals;

template <class Clock>
concept TellsTheTime = requires {
  Clock::now();
};

TEST(Time, HasNoNow) { static_assert(!TellsTheTime<RunClock>); }

TEST(Time, WallClockInstantsDoNotConvert) {
  static_assert(!std::is_convertible_v<std::chrono::steady_clock::time_point, Time>);
  static_assert(!std::is_convertible_v<std::chrono::system_clock::time_point, Time>);
  static_assert(!std::is_convertible_v<std::int64_t, Time>);
}

TEST(Time, NanosecondsGoThroughUnchanged) {
  EXPECT_EQ(to_ns(time_from_ns(1'700'000'000'123'456'789)), 1'700'000'000'123'456'789);
  EXPECT_EQ(to_ns(kRunStart), 0);
  EXPECT_EQ(to_ns(kRunStart + 3us), 3'000);
}

TEST(Time, NeverIsLaterThanEverything) { EXPECT_GT(kNever, time_from_ns(INT64_MAX - 1)); }

TEST(Time, PeopleGetSecondsAndMilliseconds) {
  EXPECT_DOUBLE_EQ(to_seconds(1500ms), 1.5);
  EXPECT_DOUBLE_EQ(to_milliseconds(250us), 0.25);
}

}  // namespace
}  // namespace corun

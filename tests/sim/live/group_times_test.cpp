#include "sim/live/client/group_times.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "sim/policy/view.h"

namespace corun::live {

using namespace std::chrono_literals;

Duration sum(const std::vector<Duration>& times) { return std::accumulate(times.begin(), times.end(), Duration{}); }

TEST(GroupTimes, AreInProportionToWhatWasExpected) {
  EXPECT_EQ(group_times(120us, {10us, 40us, 10us}), (std::vector<Duration>{20us, 80us, 20us}));
}

TEST(GroupTimes, OfWhatIsNotKnownAreAsTheMeanOfTheOthers) {
  EXPECT_EQ(group_times(90us, {10us, kUnknownDuration, 20us}), (std::vector<Duration>{20us, 30us, 40us}));
}

TEST(GroupTimes, AreAlikeWhereNothingIsKnown) {
  EXPECT_EQ(group_times(90us, {kUnknownDuration, kUnknownDuration}), (std::vector<Duration>{45us, 45us}));
  EXPECT_EQ(group_times(90us, {0us, kUnknownDuration}), (std::vector<Duration>{45us, 45us}));
}

RC_GTEST_PROP(GroupTimes, SumUpToTheWholeAndAreNeverNegative, ()) {
  const auto expected = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-1, 1'000'000));
  const Duration took{*rc::gen::inRange<std::int64_t>(0, 1'000'000'000)};
  RC_PRE(!expected.empty());
  const std::vector<Duration> times = group_times(took, {expected.begin(), expected.end()});
  RC_ASSERT(times.size() == expected.size());
  RC_ASSERT(sum(times) == took);
  for (const Duration time : times) RC_ASSERT(time >= 0ns);
}

}  // namespace corun::live

// What Gemini remembers: uses of the token, and bursts of kernels.

#include "policies/parts/token_uses.h"

#include <gtest/gtest.h>

#include "policies/parts/kernel_bursts.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;

constexpr ClientId kFirst{0}, kOther{1};

Time after(Duration duration) { return kRunStart + duration; }

TEST(TokenUses, CountsWhatLiesInTheWindow) {
  TokenUses uses(10s);
  uses.begin(kFirst, after(0s), after(3s));
  EXPECT_EQ(uses.used(after(2s), kFirst), 2s) << "so far";
  EXPECT_EQ(uses.used(after(5s), kFirst), 3s);
  EXPECT_EQ(uses.used(after(12s), kFirst), 1s);
  EXPECT_EQ(uses.used(after(13s), kFirst), 0s);
  EXPECT_EQ(uses.used(after(20s), kFirst), 0s);
  EXPECT_EQ(uses.used(after(5s), kOther), 0s);
}

TEST(TokenUses, NewestUseOfAClientEndsEarlyOrIsExtended) {
  TokenUses uses(10s);
  uses.begin(kFirst, after(0s), after(3s));
  uses.begin(kOther, after(3s), after(4s));
  uses.begin(kFirst, after(4s), after(7s));
  uses.end_early(kFirst, after(5s));
  EXPECT_EQ(uses.used(after(9s), kFirst), 4s);
  uses.extend(kFirst, after(6s));
  EXPECT_EQ(uses.used(after(9s), kFirst), 5s);
  uses.extend(kFirst, after(5s));
  EXPECT_EQ(uses.used(after(9s), kFirst), 5s) << "it is not made shorter";
  EXPECT_EQ(uses.used(after(9s), kOther), 1s);
}

TEST(TokenUses, UseIsRecentUntilItsEndLeavesTheWindow) {
  TokenUses uses(10s);
  uses.begin(kFirst, after(0s), after(3s));
  uses.forget_old(after(13s - 1ns));
  EXPECT_TRUE(uses.is_recent(kFirst));
  EXPECT_FALSE(uses.is_recent(kOther));
  uses.forget_old(after(13s));
  EXPECT_FALSE(uses.is_recent(kFirst));
}

TEST(TokenUses, UseFallsBelowALimitWhenItsOldestPartHasLeftTheWindow) {
  TokenUses uses(10s);
  uses.begin(kFirst, after(0s), after(1s));
  uses.begin(kOther, after(1s), after(4s));
  uses.begin(kFirst, after(4s), after(6s));
  EXPECT_EQ(uses.below_at(after(6s), kFirst, 3s), after(10s + 1ns));
  EXPECT_EQ(uses.below_at(after(6s), kFirst, 2'500ms), after(10'500ms + 1ns));
  EXPECT_EQ(uses.below_at(after(6s), kFirst, 2s), after(14s + 1ns)) << "the second use must begin to leave";
  EXPECT_EQ(uses.below_at(after(6s), kFirst, 1'500ms), after(14'500ms + 1ns));
  EXPECT_EQ(uses.below_at(after(10'500ms), kFirst, 2s), after(14s + 1ns)) << "half of the first use has left";
  EXPECT_LT(uses.used(after(14'500ms + 1ns), kFirst), 1'500ms);
  EXPECT_EQ(uses.used(after(14'500ms), kFirst), 1'500ms);
}

TEST(KernelBursts, GapOfTwoMillisecondsMergesAndALongerOneDoesNot) {
  for (const Duration gap : {Duration{2ms}, Duration{2ms + 1ns}}) {
    KernelBursts bursts;
    bursts.begin(after(0s));
    bursts.end(after(4ms));
    bursts.begin(after(4ms + gap));
    bursts.end(after(9ms + gap));
    EXPECT_EQ(bursts.longest_merged(after(1s)), gap > 2ms ? Duration{5ms} : 9ms + gap);
    EXPECT_EQ(bursts.remaining(after(1s)), 5ms) << "single bursts are not merged";
  }
}

TEST(KernelBursts, AreRememberedForTenSeconds) {
  KernelBursts bursts;
  bursts.begin(after(0s));
  bursts.end(after(6ms));
  bursts.begin(after(1s));
  bursts.end(after(1s + 4ms));
  EXPECT_EQ(bursts.longest_merged(after(10s + 6ms)), 6ms);
  EXPECT_EQ(bursts.longest_merged(after(10s + 6ms + 1ns)), 4ms);
  EXPECT_EQ(bursts.longest_merged(after(11s + 4ms + 1ns)), 0ms);
}

TEST(KernelBursts, BurstThatOutlastsAllBeforeItHasNothingLeft) {
  KernelBursts bursts;
  EXPECT_EQ(bursts.remaining(after(0s)), 0ms) << "nothing is known";
  bursts.begin(after(0s));
  bursts.end(after(6ms));
  EXPECT_EQ(bursts.remaining(after(20ms)), 6ms) << "a whole one, where none goes on";
  bursts.begin(after(20ms));
  EXPECT_EQ(bursts.remaining(after(25ms)), 1ms);
  EXPECT_EQ(bursts.remaining(after(27ms)), 0ms);
}

}  // namespace
}  // namespace corun

#include "sim/workload/capture/steps/first_launch.h"

#include <gtest/gtest.h>

#include "tests/sim/workload/step_text.h"

namespace corun {
namespace {

using testing::step_log;

Positions found_begins(const std::string& text, const Positions& bounds, bool is_near = false) {
  return find_first_launch(step_log(text), bounds, is_near).begins;
}

TEST(JudgeBegins, AWaitInEachStepAndALongerPauseThanAllOthersShowThem) {
  const FirstLaunch found = judge_begins(step_log("ab|-ab|-ab|-ab"), {0, 3, 6, 9});
  EXPECT_EQ(found.begins, (Positions{0, 3, 6, 9}));
  EXPECT_EQ(found.waited, 1);
  EXPECT_EQ(found.specificity, 1);
  EXPECT_EQ(found.long_pauses, 1);
  EXPECT_EQ(found.pause_ratio, 12) << "120 us over 10";
  EXPECT_EQ(found.apart, 1);
}

TEST(JudgeBegins, WaitsInsideStepsAreLessSpecific) {
  const FirstLaunch found = judge_begins(step_log("a|b|a|b|a|b|a"), {0, 4, 8, 12});
  EXPECT_EQ(found.waited, 1);
  EXPECT_EQ(found.specificity, 0.5);
}

TEST(JudgeBegins, AWaitCountsInItsOwnStepOnly) {
  const FirstLaunch found = judge_begins(step_log("ab|ababab"), {0, 3, 5, 7});
  EXPECT_DOUBLE_EQ(found.waited, 1.0 / 3);
  EXPECT_EQ(found.specificity, 1);
  const FirstLaunch none = judge_begins(step_log("abababab"), {0, 2, 4, 6});
  EXPECT_EQ(none.waited, 0);
  EXPECT_EQ(none.specificity, 0);
}

TEST(JudgeBegins, ABeginInTheMidstOfAGraphIsNotApart) {
  const FirstLaunch found = judge_begins(step_log("a=b-a=b-a=b"), {1, 3, 5});
  EXPECT_EQ(found.apart, 0);
  EXPECT_EQ(found.long_pauses, 0);
  EXPECT_EQ(found.pause_ratio, 0);
  EXPECT_EQ(judge_begins(step_log("a=b-a=b-a=b"), {0, 2, 4}).apart, 1);
}

TEST(JudgeBegins, PausesInsideStepsThatAreAsLongLeaveNoLongOnes) {
  const FirstLaunch found = judge_begins(step_log("a-b-a-b-a-b-a-b-a"), {0, 2, 4, 6, 8});
  EXPECT_EQ(found.long_pauses, 0);
  EXPECT_EQ(found.pause_ratio, 1);
}

TEST(JudgeBegins, AFewPausesAsLongAsThoseBetweenStepsDoNoHarm) {
  // Ten steps, so thirteen pauses may be long: three inside steps are.
  const FirstLaunch found =
      judge_begins(step_log("a-ba-ba-bababababababababa"), {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20});
  EXPECT_EQ(found.long_pauses, 0) << "those before the begins are not";
  const FirstLaunch parted = judge_begins(step_log("a--b--a--b--a--b--ab--ab--ab--ab--ab--ab--ab--a"),
                                          {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20});
  EXPECT_EQ(parted.long_pauses, 1);
}

TEST(JudgeBegins, OneBeginShowsNothing) {
  const FirstLaunch found = judge_begins(step_log("ab|ab|"), {0});
  EXPECT_EQ(found.begins, (Positions{0}));
  EXPECT_EQ(found.waited + found.specificity + found.long_pauses + found.pause_ratio + found.apart, 0);
}

TEST(FindFirstLaunch, IsTheOneAfterAWaitForAllWorkThoughThePauseIsLongerElsewhere) {
  EXPECT_EQ(found_begins("ab!c-ab!c-ab!c-ab!c", {0, 4, 8, 12}), (Positions{3, 7, 11, 15}));
}

TEST(FindFirstLaunch, NearTheBoundIsAmongTheFirstFifth) {
  EXPECT_EQ(found_begins("ab!c-ab!c-ab!c-ab!c", {0, 4, 8, 12}, true), (Positions{0, 4, 8, 12}));
  EXPECT_EQ(found_begins("ab-cdefghijab-cdefghijab-cdefghij", {0, 10, 20}, true), (Positions{2, 12, 22}));
  EXPECT_EQ(found_begins("abc-defghijabc-defghijabc-defghij", {0, 10, 20}, true), (Positions{0, 10, 20}));
}

TEST(FindFirstLaunch, AWaitInHalfOfTheStretchesIsEnough) {
  const Positions bounds{0, 3, 7, 11, 14};
  EXPECT_EQ(found_begins("-abc-ab!c-ab!c-abc-abc", bounds), (Positions{2, 6, 10, 13, 16}));
  EXPECT_EQ(found_begins("-abc-ab!c-ab|c-abc-abc", bounds), bounds) << "a quarter is not";
}

TEST(FindFirstLaunch, IsOneLaunchOfSeveralOfItsKind) {
  EXPECT_EQ(found_begins("a-aba-aba-aba-ab", {0, 3, 6, 9}), (Positions{1, 4, 7, 10}));
}

TEST(FindFirstLaunch, OneLongPauseDecidesNothing) {
  const std::string pause(50, '-');
  EXPECT_EQ(found_begins("-ab-ab-a" + pause + "b-ab-ab", {0, 2, 4, 6, 8}), (Positions{0, 2, 4, 6, 8}));
}

TEST(FindFirstLaunch, WhatCameBeforeTheFirstStretchDoesNotCount) {
  EXPECT_EQ(found_begins("a----------b-ab-ab", {0, 2, 4}), (Positions{0, 2, 4}));
}

TEST(FindFirstLaunch, IsInFourOfFiveStretches) {
  // Of six stretches that count, one may be cut off: four of five are needed.
  EXPECT_EQ(found_begins("abab-xab-xab-xab-xabab", {0, 2, 4, 7, 10, 13, 16}), (Positions{4, 7, 10, 13}));
  EXPECT_EQ(found_begins("abab-xab-xab-xababab", {0, 2, 4, 7, 10, 13, 15}).size(), 7u) << "three are too few";
}

TEST(FindFirstLaunch, IsTheEarliestOfThoseWithEqualPauses) {
  EXPECT_EQ(found_begins("abcabcabcabc", {0, 3, 6, 9}), (Positions{0, 3, 6, 9}));
}

TEST(FindFirstLaunch, WithoutStretchesOrLaunchesThereIsNone) {
  EXPECT_TRUE(found_begins("abc", {}).empty());
  EXPECT_TRUE(found_begins("||||", {0, 2}).empty());
}

}  // namespace
}  // namespace corun

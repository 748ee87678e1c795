#include "sim/workload/capture/steps/whole_steps.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/sim/workload/step_text.h"

namespace corun {
namespace {

using testing::step_log;

Positions begins_of(const std::string& text, const Positions& begins) {
  return whole_steps(step_log(text), begins).begins;
}

TEST(WholeSteps, OfAStretchWithoutItsBoundaryAreSeveral) {
  EXPECT_EQ(begins_of("abcd|abcd|abcd|abcd|abcd|abcd|", {0, 5, 15, 20, 25}), (Positions{0, 5, 10, 15, 20, 25}));
}

TEST(WholeSteps, TakeInOtherWorkBetweenThem) {
  EXPECT_EQ(begins_of("abcd|abcd|xyz|abcd|abcd|abcd|", {0, 5, 10, 14, 19, 24}), (Positions{0, 5, 14, 19, 24}));
}

TEST(WholeSteps, LeaveOutAStartThatIsUnlikeThem) {
  EXPECT_EQ(begins_of("axyzuvw|abcd|abcd|abcd|abcd|", {0, 8, 13, 18, 23}), (Positions{8, 13, 18, 23}));
}

TEST(WholeSteps, BeforeTheFirstBoundaryAreAddedButNotAnIncompleteOne) {
  EXPECT_EQ(begins_of("abcd|abcd|abcd|abcd|", {5, 10, 15}), (Positions{0, 5, 10, 15}));
  EXPECT_EQ(begins_of("cd|abcd|abcd|abcd|", {3, 8, 13}), (Positions{3, 8, 13}));
}

TEST(WholeSteps, EndWhereTheLastOneDoes) {
  const WholeSteps cut = whole_steps(step_log("abcd|abcd|abcd|ab"), {0, 5, 10, 15});
  EXPECT_EQ(cut.begins.size(), 3u);
  EXPECT_EQ(cut.end, 15u);
  const WholeSteps followed = whole_steps(step_log("abcd|abcd|abcd|---uvwxyzuvwxyz"), {0, 5, 10});
  EXPECT_EQ(followed.begins.size(), 3u);
  EXPECT_EQ(followed.end, 15u);
}

TEST(WholeSteps, OfStartUpAreSlow) {
  const HostLog log = step_log("ab--------|ab|ab|ab|ab|");
  Positions begins{0, 3, 6, 9, 12};
  EXPECT_EQ(drop_slow_starts(log, begins), 1u);
  EXPECT_EQ(begins, (Positions{3, 6, 9, 12}));
}

TEST(WholeSteps, OfWhichAllButTheLastAreHalfAreThoseHalvesTogether) {
  const WholeSteps found = whole_steps(step_log("abcd|efgh|abcdefgh|"), {0, 5, 10});
  EXPECT_EQ(found.begins, (Positions{0, 10}));
  EXPECT_EQ(found.end, 19u);
}

TEST(WholeSteps, AreNoneWithoutTwoBegins) {
  EXPECT_TRUE(begins_of("abcd|abcd|", {0}).empty());
  EXPECT_TRUE(begins_of("abcd|abcd|", {}).empty());
}

TEST(WholeSteps, OfAStretchAsLongAsThreeAreThree) {
  EXPECT_EQ(begins_of("abcd|abcd|abcd|abcd|abcd|abcd|abcd|", {0, 5, 20, 25, 30}),
            (Positions{0, 5, 10, 15, 20, 25, 30}));
}

TEST(WholeSteps, BeginWithTheirLaunchThoughAnotherComesAfterALongerPause) {
  EXPECT_EQ(begins_of("ab-cd|ab-cd|ab-cd|ab-cd|ab-cd|", {0, 10, 15, 20}), (Positions{0, 5, 10, 15, 20}));
}

TEST(WholeSteps, OfTwoLaunchesThatMayBeginThemTheOneAfterTheLongerPauseDoes) {
  EXPECT_EQ(begins_of("aabbb|-aabbb|-aabbb|-aabbb|-aabbb|", {0, 12, 18, 24}), (Positions{0, 6, 12, 18, 24}));
}

TEST(WholeSteps, MayLackAFewLaunchesAtTheEndOfTheLogButNotMany) {
  EXPECT_EQ(begins_of("abcdefghij|abcdefghij|abcdefghij|abcdefghij", {0, 11, 22, 33}), (Positions{0, 11, 22}))
      << "equal ones are whole or not there";
  EXPECT_EQ(begins_of("abcdefghi|abcdefghj|abcdefghk|abcdefgh", {0, 10, 20, 30}), (Positions{0, 10, 20, 30}))
      << "these differ by two in ten";
}

TEST(WholeSteps, MayEndTheLogWithTwoWaitsMore) {
  const WholeSteps found = whole_steps(step_log("ab|ab|ab|ab|||"), {0, 3, 6, 9});
  EXPECT_EQ(found.begins, (Positions{0, 3, 6, 9}));
  EXPECT_EQ(found.end, 14u);
}

TEST(WholeSteps, ThatTakeTwiceAsLongAsMostAreNotSlow) {
  Positions begins{0, 4, 6};
  EXPECT_EQ(drop_slow_starts(step_log("abcdababab"), begins), 0u);
  EXPECT_EQ(begins, (Positions{0, 4, 6}));
}

TEST(WholeSteps, SlowOnesAreLeftOutDownToTwo) {
  Positions begins{0, 5, 7};
  EXPECT_EQ(drop_slow_starts(step_log("abcdeababab"), begins), 1u);
  EXPECT_EQ(begins, (Positions{5, 7}));
  Positions one{0};
  EXPECT_EQ(drop_slow_starts(step_log("abcd"), one), 0u);
  EXPECT_EQ(one.size(), 1u);
}

TEST(WholeSteps, ASlowOneAmongOthersIsNoStartUp) {
  Positions begins{0, 2, 8, 10};
  EXPECT_EQ(drop_slow_starts(step_log("ababababababab"), begins), 0u);
  EXPECT_EQ(begins.size(), 4u);
}

}  // namespace
}  // namespace corun

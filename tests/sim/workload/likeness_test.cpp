#include "sim/workload/capture/steps/likeness.h"

#include <gtest/gtest.h>

#include "tests/sim/workload/step_text.h"

namespace corun {
namespace {

using testing::step_log;

TEST(Likeness, IsThePartOfTheEventsThatOccurAsOftenAsInMostStretches) {
  const HostLog log = step_log("aabaabaac");
  const TypicalStretch typical(log, {0, 3, 6, 9});
  EXPECT_EQ(typical.size(), 3u) << "a, a, b";
  EXPECT_DOUBLE_EQ(typical.likeness().events, 7.0 / 9) << "a b is missing once, and c is there once";
  EXPECT_DOUBLE_EQ(typical.likeness().symbols, (1 + 0.5) / 2)
      << "a always, b in one of two; c, seen once, is not asked";
}

TEST(Likeness, CountsWhatIsTooManyAsMuchAsWhatIsTooFew) {
  const HostLog log = step_log("abababbab");  // the third stretch has a b more
  const TypicalStretch typical(log, {0, 2, 4, 7, 9});
  EXPECT_EQ(typical.size(), 2u);
  EXPECT_DOUBLE_EQ(typical.likeness().events, 8.0 / 9);
  EXPECT_DOUBLE_EQ(typical.likeness().symbols, (1 + 4.0 / 5) / 2);
}

TEST(Likeness, OfEqualStretchesIsWholeWhateverTheirOrder) {
  const HostLog log = step_log("abccabbacz");
  const TypicalStretch typical(log, {0, 3, 6, 9});
  EXPECT_EQ(typical.likeness().events, 1);
  EXPECT_EQ(typical.likeness().symbols, 1);
}

TEST(Likeness, WhatHalfOfTheStretchesHaveIsTypical) {
  const HostLog log = step_log("aaabab");
  EXPECT_EQ(TypicalStretch(log, {0, 1, 2, 4, 6}).size(), 2u);
  const HostLog fewer = step_log("aaaab");
  EXPECT_EQ(TypicalStretch(fewer, {0, 1, 2, 3, 5}).size(), 1u) << "one in four has b";
}

TEST(Likeness, OfNoStretchIsNone) {
  const HostLog log = step_log("abc");
  TypicalStretch none(log, {0});
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.likeness().events, 0);
  EXPECT_EQ(none.difference(0, 3), 1) << "nothing in common";
  EXPECT_EQ(none.difference(1, 1), 0) << "two that are empty are equal";
  EXPECT_EQ(none.contained(0, 3), 0);
}

TEST(TypicalStretch, DiffersByWhatEitherLacks) {
  const HostLog log = step_log("aabaabaac");
  TypicalStretch typical(log, {0, 3, 6, 9});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(typical.difference(0, 3), 0);
    EXPECT_DOUBLE_EQ(typical.difference(6, 9), 1.0 / 3);
    EXPECT_DOUBLE_EQ(typical.difference(0, 6), 0.5);
    EXPECT_EQ(typical.difference(3, 3), 1);
    EXPECT_EQ(typical.contained(0, 6), 1);
    EXPECT_DOUBLE_EQ(typical.contained(6, 9), 2.0 / 3);
    EXPECT_DOUBLE_EQ(typical.contained(2, 3), 1.0 / 3);
  }
}

TEST(TypicalStretch, HasAllOfAStretchOfWhichOneInTwentyIsMissing) {
  const std::string forty = "abcdefghijklmnopqrstuvwxyzABDEFGHIJKLMNO";
  ASSERT_EQ(forty.size(), 40u);
  const HostLog log = step_log(forty + forty + forty + "1" + forty.substr(1) + "123" + forty.substr(3));
  TypicalStretch typical(log, {0, 40, 80, 120});
  EXPECT_TRUE(typical.has_all_of(0, 40));
  EXPECT_TRUE(typical.has_all_of(0, 20)) << "a part of it";
  EXPECT_TRUE(typical.has_all_of(120, 160)) << "39 of 40";
  EXPECT_FALSE(typical.has_all_of(160, 200)) << "37 of 40";
}

}  // namespace
}  // namespace corun

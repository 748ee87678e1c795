#include <gtest/gtest.h>

#include <numeric>

#include "sim/workload/capture/steps/levels.h"
#include "tests/sim/workload/step_text.h"

namespace corun {
namespace {

using testing::step_log;

struct Figures {
  double events = 1, symbols = 1;
  double waited = 0, specificity = 0, long_pauses = 0, pause_ratio = 0;
};

/// A level of so many steps that looks like this.
Level level_of(std::size_t steps, const Figures& figures) {
  Level level;
  level.first.begins.resize(steps);
  std::iota(level.first.begins.begin(), level.first.begins.end(), 0U);
  level.first.waited = figures.waited;
  level.first.specificity = figures.specificity;
  level.first.long_pauses = figures.long_pauses;
  level.first.pause_ratio = figures.pause_ratio;
  level.likeness = {figures.events, figures.symbols};
  return level;
}

Level level_at(const HostLog& log, const Positions& begins, bool closes_update = false) {
  Level level;
  level.first = judge_begins(log, begins);
  level.likeness = TypicalStretch(log, begins).likeness();
  level.closes_update = closes_update;
  return level;
}

std::size_t closed_steps(const std::vector<Level>& levels) {
  const Level* chosen = closed_level(levels);
  return chosen == nullptr ? 0 : chosen->steps();
}

std::size_t complete_steps(const std::vector<Level>& levels) {
  const Level* chosen = complete_level(levels);
  return chosen == nullptr ? 0 : chosen->steps();
}

const Figures kClosed{.waited = 1, .specificity = 1};
const Figures kParted{.symbols = 0.5, .long_pauses = 0.7, .pause_ratio = 8};

TEST(CompleteLevel, IsTheFinestThatExplainsNearlyAsMuchAsAny) {
  EXPECT_EQ(complete_steps({level_of(10, {}), level_of(40, {})}), 40u);
  EXPECT_EQ(complete_steps({level_of(10, {}), level_of(40, {.events = 0.86})}), 40u);
  EXPECT_EQ(complete_steps({level_of(10, {}), level_of(40, {.events = 0.84})}), 10u) << "less alike by over 0.15";
  EXPECT_EQ(complete_steps({level_of(10, {}), level_of(40, {.symbols = 0.91})}), 40u);
  EXPECT_EQ(complete_steps({level_of(10, {}), level_of(40, {.symbols = 0.89})}), 10u) << "less complete by over 0.1";
}

TEST(CompleteLevel, HoldsThreeStepsAtLeastThatAreThreeQuartersAlike) {
  EXPECT_EQ(complete_steps({}), 0u);
  EXPECT_EQ(complete_steps({level_of(2, {})}), 0u);
  EXPECT_EQ(complete_steps({level_of(3, {})}), 3u);
  EXPECT_EQ(complete_steps({level_of(9, {.events = 0.76})}), 9u);
  EXPECT_EQ(complete_steps({level_of(9, {.events = 0.74})}), 0u);
}

TEST(CompleteLevel, OfThoseWithAboutAsManyStepsIsTheMostAlike) {
  EXPECT_EQ(complete_steps({level_of(100, {.events = 0.9}), level_of(94, {})}), 94u);
  EXPECT_EQ(complete_steps({level_of(100, {.events = 0.9}), level_of(93, {})}), 100u);
}

TEST(CompleteLevel, ItsPartsGoBeforeItWherePausesLeaveNoDoubt) {
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.7}), level_of(20, kParted)}), 20u);
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.7}), level_of(19, kParted)}), 10u) << "no two in each";
  Figures unclear = kParted;
  unclear.pause_ratio = 7.9;
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.7}), level_of(20, unclear)}), 10u);
  unclear = kParted;
  unclear.long_pauses = 0.69;
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.7}), level_of(20, unclear)}), 10u);
}

TEST(CompleteLevel, WithoutPausesOfItsOwnGivesWayToOneWithHalfAsManySteps) {
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.69}), level_of(5, kParted)}), 5u);
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.69}), level_of(4, kParted)}), 10u);
  EXPECT_EQ(complete_steps({level_of(10, {.long_pauses = 0.7}), level_of(5, kParted)}), 10u);
}

TEST(ClosedLevel, IsTheFinestWhoseStretchesAreAlikeAndWaitedFor) {
  EXPECT_EQ(closed_steps({level_of(10, kClosed), level_of(40, kClosed), level_of(80, {})}), 40u);
  EXPECT_EQ(closed_steps({level_of(10, {.waited = 0.8, .specificity = 0.2})}), 10u);
  EXPECT_EQ(closed_steps({level_of(10, {.waited = 0.79, .specificity = 1})}), 0u);
  EXPECT_EQ(closed_steps({level_of(10, {.waited = 1, .specificity = 0.19})}), 0u) << "it waits all the time";
}

TEST(ClosedLevel, MayBeALittleLessAlikeThanTheOthersThatAreWaitedFor) {
  const auto alike = [](double events) { return Figures{.events = events, .waited = 1, .specificity = 1}; };
  EXPECT_EQ(closed_steps({level_of(10, alike(1)), level_of(40, alike(0.86))}), 40u);
  EXPECT_EQ(closed_steps({level_of(10, alike(1)), level_of(40, alike(0.84))}), 10u);
  EXPECT_EQ(closed_steps({level_of(10, {.events = 1}), level_of(40, alike(0.76))}), 40u)
      << "the first is not waited for";
  EXPECT_EQ(closed_steps({level_of(40, alike(0.74))}), 0u);
}

TEST(ClosedLevel, IsAMoreCompleteOneOfLessThanEightOfItsStretches) {
  const Figures part{.symbols = 0.8, .waited = 1, .specificity = 1};
  EXPECT_EQ(closed_steps({level_of(10, kClosed), level_of(79, part)}), 10u);
  EXPECT_EQ(closed_steps({level_of(10, kClosed), level_of(80, part)}), 80u);
  EXPECT_EQ(closed_steps({level_of(10, {.symbols = 0.89, .waited = 1, .specificity = 1}), level_of(79, part)}), 79u)
      << "hardly more complete";
  EXPECT_EQ(closed_steps({level_of(10, {.waited = 0.79, .specificity = 1}), level_of(79, part)}), 79u);
}

TEST(ClosedLevel, IsAMoreCompleteOneOfManyStretchesIfTheHostWaitsMoreThanOnceInThese) {
  const Figures part{.symbols = 0.8, .waited = 1, .specificity = 0.89},
      once{.symbols = 0.8, .waited = 1, .specificity = 0.9};
  EXPECT_EQ(closed_steps({level_of(10, kClosed), level_of(80, part)}), 10u);
  EXPECT_EQ(closed_steps({level_of(10, kClosed), level_of(80, once)}), 80u);
}

TEST(ClosedLevel, OfKernelsThatDependOnTheDataIsShownByWaitsAndPausesTogether) {
  const Figures loose{.events = 0.5, .waited = 0.8, .specificity = 0.9, .long_pauses = 0.7};
  EXPECT_EQ(closed_steps({level_of(10, loose)}), 10u);
  Figures other = loose;
  other.events = 0.49;
  EXPECT_EQ(closed_steps({level_of(10, other)}), 0u);
  other = loose, other.waited = 0.79;
  EXPECT_EQ(closed_steps({level_of(10, other)}), 0u);
  other = loose, other.specificity = 0.89;
  EXPECT_EQ(closed_steps({level_of(10, other)}), 0u);
  other = loose, other.long_pauses = 0.69;
  EXPECT_EQ(closed_steps({level_of(10, other)}), 0u);
}

TEST(ReadBackLevel, BeginsWithTheLaunchBehindEachCopyToTheHost) {
  const HostLog log = step_log("abC|abC|abC|abC|");
  const std::optional<Level> found = read_back_level(log, {level_at(log, {0, 4, 8, 12})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.begins, (Positions{4, 8, 12}));
  EXPECT_EQ(found->likeness.events, 1);
  EXPECT_EQ(found->first.waited, 1);
}

TEST(ReadBackLevel, ACopyBehindWhichNothingIsLaunchedBeginsNoStep) {
  const std::string step = "abcdefghijklmnopqrstC|";
  const HostLog log = step_log(step + step + step);
  const std::optional<Level> found = read_back_level(log, {level_at(log, {0, 22, 44, 65})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.begins, (Positions{22, 44}));
}

TEST(ReadBackLevel, IsNoneOfStretchesWithTwoCopiesOrWithout) {
  const HostLog twice = step_log("aCbCaCbCaCbCaCbC"), never = step_log("abababab");
  EXPECT_FALSE(read_back_level(twice, {level_at(twice, {0, 4, 8, 12})}));
  EXPECT_TRUE(read_back_level(twice, {level_at(twice, {0, 2, 4, 6, 8, 10, 12, 14})}) == std::nullopt)
      << "a and b in turns are not alike";
  EXPECT_FALSE(read_back_level(never, {level_at(never, {0, 2, 4, 6})}));
}

TEST(ReadBackLevel, MayHaveOneStretchInTwentyWithAnotherNumberOfCopies) {
  const auto is_found = [](int others) {
    std::string text;
    Positions begins;
    for (int i = 0; i < 60; ++i) {
      begins.push_back(static_cast<std::uint32_t>(text.size()));
      text += i < others ? "abcdCC" : "abcdC";
    }
    const HostLog log = step_log(text);
    return read_back_level(log, {level_at(log, begins)}).has_value();
  };
  EXPECT_TRUE(is_found(2)) << "57 of 59";
  EXPECT_FALSE(is_found(3)) << "56 of 59";
}

TEST(UpdateLevel, IsTheOneThatAnUpdateCloses) {
  const HostLog log = step_log("abUabUabUabU");
  const Level other = level_at(log, {0, 6}), closed = level_at(log, {0, 3, 6, 9}, true);
  EXPECT_EQ(update_level(log, {other, closed})->steps(), 4u);
  EXPECT_FALSE(update_level(log, {other}));
  const HostLog unlike = step_log("abUcdUefUghU");
  EXPECT_FALSE(update_level(unlike, {level_at(unlike, {0, 3, 6, 9}, true)})) << "one in three is alike";
}

TEST(UpdateLevel, OfNetsThatTrainInTurnsIsARoundOfAllUpToFour) {
  const auto begins_of = [](const std::string& round, int rounds) {
    std::string text;
    for (int i = 0; i < rounds; ++i) text += round;
    const HostLog log = step_log(text);
    Positions begins{0};
    for (std::uint32_t i = 1; i < text.size(); ++i)
      if (text[i - 1] == 'U') begins.push_back(i);
    return update_level(log, {level_at(log, begins, true)})->first.begins;
  };
  EXPECT_EQ(begins_of("axUbxU", 4), (Positions{0, 6, 12, 18}));
  EXPECT_EQ(begins_of("axUbxUcxU", 3), (Positions{0, 9, 18}));
  EXPECT_EQ(begins_of("axUbxUcxUdxU", 3), (Positions{0, 12, 24}));
  EXPECT_EQ(begins_of("axUbxUcxUdxUexU", 3).size(), 15u) << "each by itself";
  EXPECT_EQ(begins_of("axUbxU", 2).size(), 4u) << "two rounds are not enough";
}

}  // namespace
}  // namespace corun

#include "sim/workload/capture/steps/anchors.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/workload/capture/steps/levels.h"
#include "tests/sim/workload/step_text.h"

namespace corun {
namespace {

using testing::step_log;

bool holds(const std::vector<Anchors>& all, const Positions& at) {
  return std::ranges::find(all, at, &Anchors::at) != all.end();
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Anchors, AreEachKindOfLaunchThatRecurs) {
  const std::vector<Anchors> found = find_anchors(step_log("abcabcabcabc"));
  EXPECT_TRUE(holds(found, {0, 3, 6, 9}) || holds(found, {1, 4, 7, 10}));
  for (const Anchors& anchors : found) EXPECT_EQ(anchors.at.size(), 4u);
}

TEST(Anchors, AreTheFirstOfEachBurst) {
  // Layers come one behind another, and four bursts of them twelve apart.
  const std::vector<Anchors> found = find_anchors(step_log(repeated("aaabcdefghijk", 4)));
  EXPECT_TRUE(holds(found, {0, 13, 26, 39}));
  EXPECT_TRUE(holds(found, {0, 1, 2, 13, 14, 15, 26, 27, 28, 39, 40, 41}));
}

TEST(Anchors, ThatRecurTwiceAreNone) {
  EXPECT_TRUE(find_anchors(step_log("abcdabef")).empty());
  EXPECT_FALSE(find_anchors(step_log("abcdabefab")).empty());
}

TEST(Anchors, AreLaunchesAfterPausesThatAreLongerThanTheOthers) {
  const std::vector<Anchors> found = find_anchors(step_log(repeated("-abc", 5)));
  const auto pauses = std::ranges::find(found, true, &Anchors::are_begins);
  ASSERT_NE(pauses, found.end());
  EXPECT_EQ(pauses->at, (Positions{3, 6, 9, 12})) << "before the first nothing was launched";
  EXPECT_EQ(pauses->group, -2);
}

TEST(Anchors, LieBehindBurstsOfUpdates) {
  HostLog log = step_log(repeated("abcdefghUUU", 4));
  log.is_update['U'] = true;
  const std::vector<Anchors> found = find_anchors(log);
  const auto updates = std::ranges::find(found, true, &Anchors::closes_update);
  ASSERT_NE(updates, found.end());
  EXPECT_EQ(updates->at, (Positions{11, 22, 33})) << "nothing follows the last";
  EXPECT_EQ(updates->group, -1);
  HostLog twice = step_log(repeated("abcdefghUUU", 3));
  twice.is_update['U'] = true;
  const std::vector<Anchors> found_twice = find_anchors(twice);
  EXPECT_EQ(std::ranges::count(found_twice, true, &Anchors::closes_update), 1) << "two are enough";
  HostLog once = step_log("abcdefghUUUa");
  once.is_update['U'] = true;
  for (const Anchors& anchors : find_anchors(once)) EXPECT_FALSE(anchors.closes_update);
}

TEST(Levels, HoldTheLoopWithoutWhatIsUnlikeItAtBothEnds) {
  const std::vector<Level> levels = levels_of(step_log("avwxyz" + repeated("abc!", 8)));
  ASSERT_FALSE(levels.empty());
  for (const Level& level : levels) {
    EXPECT_EQ(level.likeness.events, 1);
    EXPECT_GE(level.first.begins.front(), 6u);
  }
}

TEST(Levels, AreOfALoopThatIsMostOfTheLog) {
  EXPECT_FALSE(levels_of(step_log(repeated("abc!", 8) + "defghijklmnop")).empty());
  EXPECT_TRUE(levels_of(step_log(repeated("abc!", 4) + "defghijklmnopqrstuvwxyz")).empty()) << "behind it is more";
}

}  // namespace
}  // namespace corun

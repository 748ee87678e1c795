#include "policies/djay/game.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

const std::vector<QualityLevel> kMenu{{"high", 1.0, 1.0}, {"medium", 0.5, 0.88}, {"low", 0.25, 0.70}};

/// A game that has the best level when it joins.
struct Played {
  explicit Played(bool joins_cheapest = true, Duration first_switch_cost = 3ms)
      : game({.model = {.kind = GameModel::Kind::kRatio},
              .first_switch_cost = first_switch_cost,
              .joins_cheapest = joins_cheapest},
             client(), 5) {}
  static ClientView client() {
    ClientView its;
    its.id = ClientId{2};
    its.quality_menu = kMenu;
    return its;
  }
  void frame(std::uint32_t level, Duration gpu_busy) {
    FrameView its;
    its.number = game.frames();
    its.quality_level = level;
    its.gpu_busy = gpu_busy;
    game.frame_ended(its);
  }
  /// The first frame at a level, which takes so much more, and the second.
  void change_to(std::uint32_t level, Duration more) {
    frame(level, 8ms + more);
    frame(level, 8ms);
  }
  DjayGame game;
};

TEST(DjayGame, JoinsAtTheCheapestLevelOrAtItsOwn) {
  EXPECT_EQ(Played(true).game.target(), 2U);
  EXPECT_EQ(Played(false).game.target(), 0U);
  EXPECT_EQ(Played().game.id(), ClientId{2});
  EXPECT_EQ(Played().game.order(), 5U);
  EXPECT_FALSE(Played(true).game.is_at_target());
  EXPECT_TRUE(Played(false).game.is_at_target());
}

TEST(DjayGame, ChangeOfLevelCostsWhatItsFirstFrameTakesMoreThanItsSecond) {
  Played played;
  EXPECT_EQ(played.game.switch_cost(), 3ms) << "as assumed";
  played.frame(0, 10ms);
  EXPECT_EQ(played.game.model().frames(), 1U);
  played.frame(1, 30ms);
  EXPECT_EQ(played.game.newest_time(), 30ms);
  EXPECT_EQ(played.game.model().frames(), 1U) << "says nothing of the level";
  EXPECT_EQ(played.game.switch_cost(), 3ms) << "not known yet";
  played.frame(1, 8ms);
  EXPECT_EQ(played.game.switch_cost(), 22ms);
  EXPECT_EQ(played.game.model().frames(), 2U);
  played.frame(1, 80ms);
  EXPECT_EQ(played.game.switch_cost(), 22ms) << "a slow frame at the same level is none";
  EXPECT_EQ(played.game.frames(), 4U);
}

TEST(DjayGame, LargestOfTheLastFourChangesCounts) {
  Played played;
  played.change_to(1, 22ms);
  for (const Duration more : {5ms, 6ms, 7ms}) played.change_to(more == 6ms ? 1 : 0, more);
  EXPECT_EQ(played.game.switch_cost(), 22ms);
  played.change_to(1, 4ms);
  EXPECT_EQ(played.game.switch_cost(), 7ms) << "the first of five is forgotten";
}

TEST(DjayGame, FirstFrameThatIsQuickerThanTheSecondCostsNothing) {
  Played played;
  played.change_to(1, -5ms);
  EXPECT_EQ(played.game.switch_cost(), Duration{0});
}

TEST(DjayGame, DwellsForSoManyFramesAfterItsTargetChanged) {
  Played played(false);
  EXPECT_TRUE(played.game.has_dwelt(1000)) << "it has not changed yet";
  played.frame(0, 10ms);
  played.game.set_target(1);
  EXPECT_FALSE(played.game.has_dwelt(2));
  played.frame(1, 10ms);
  played.game.set_target(1);
  EXPECT_FALSE(played.game.has_dwelt(2));
  played.frame(1, 10ms);
  EXPECT_TRUE(played.game.has_dwelt(2));
  EXPECT_FALSE(played.game.has_dwelt(3));
}

TEST(DjayGame, CountsTheFramesSinceAnUpgradeWasFirstHeldBack) {
  Played played;
  EXPECT_EQ(played.game.held_back_for(), 0U);
  played.frame(0, 10ms);
  played.game.note_held_back(true);
  for (int i = 0; i < 3; ++i) {
    played.frame(0, 10ms);
    played.game.note_held_back(true);
  }
  EXPECT_EQ(played.game.held_back_for(), 3U);
  played.game.note_held_back(false);
  EXPECT_EQ(played.game.held_back_for(), 0U);
  played.game.note_held_back(true);
  played.frame(0, 10ms);
  EXPECT_EQ(played.game.held_back_for(), 1U);
  played.game.set_target(1);
  EXPECT_EQ(played.game.held_back_for(), 0U) << "another level is another question";
}

TEST(DjayGame, MenuSaysWhatAGameWithoutAFrameCostsAgainstItsCheapestLevel) {
  Played played;
  EXPECT_EQ(played.game.expected_cost(4ms), 4ms);
  played.game.set_target(0);
  EXPECT_EQ(played.game.expected_cost(4ms), 16ms);
  played.frame(0, 10ms);
  EXPECT_NEAR(to_milliseconds(played.game.expected_cost(4ms)), 10.0, 1e-5);
}

TEST(DjayGame, VerdictStandsWithItsReason) {
  Played played;
  EXPECT_EQ(played.game.standing(), DjayGame::Standing::kArriving);
  played.game.admit();
  EXPECT_EQ(played.game.standing(), DjayGame::Standing::kAdmitted);
  played.game.refuse({"eviction", 2.0, 1.0, "ns"});
  EXPECT_EQ(played.game.standing(), DjayGame::Standing::kRefused);
  EXPECT_EQ(played.game.why_refused().rule, "eviction");
  EXPECT_EQ(played.game.why_refused().needed, 2.0);
}

}  // namespace
}  // namespace corun

#include <gtest/gtest.h>

#include "tests/policies/djay/djay_world.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

TEST(Djay, HoldsOneToFourPlayersAtTheKnownMeanQuality) {
  const double expected[] = {1.0, 1.0, 0.92, 0.835};
  for (const char* solver : {"greedy_hull", "exact", "bins"})
    for (std::size_t games = 1; games <= 4; ++games) {
      DjayWorld world(djay_with({{"solver", std::string(solver)}}), games);
      world.play(60);
      EXPECT_NEAR(world.mean_quality(), expected[games - 1], 1e-9) << games << " players, " << solver;
    }
}

TEST(Djay, HeavierSceneIsAnsweredByItsFirstFrame) {
  DjayWorld world(djay_policy().defaults(), 1);
  world.play(30);
  EXPECT_EQ(world.level(0), 0U);
  world.truth[0].busy = 40ms;
  world.play(2);
  EXPECT_EQ(world.level(0), 1U);
}

TEST(Djay, OverloadDoesNotWaitForTheEndOfALongRound) {
  DjayWorld world(djay_with({{"period_frames", std::int64_t{1000}}}), 1);
  world.play(30);
  world.truth[0].busy = 40ms;
  world.play(2);
  EXPECT_EQ(world.level(0), 1U);
}

TEST(Djay, LevelsFitAgainOneFrameAfterASceneThatDoublesAllCosts) {
  for (const char* model : {"regression", "ratio"}) {
    DjayWorld world(djay_with({{"cost_model", std::string(model)}}), 3);
    world.play(60);
    for (TrueGame& game : world.truth) game.busy *= 2;
    world.scene = 2;
    world.play(1);
    EXPECT_GT(world.rounds.back(), kDjayPeriod);
    world.play(20);
    for (std::size_t round = 61; round < world.rounds.size(); ++round)
      EXPECT_LE(world.rounds[round], kDjayPeriod) << model << ", frame " << round;
  }
}

TEST(Djay, UpgradeWaitsForItsDwellTime) {
  DjayWorld world(djay_policy().defaults(), 1);
  world.truth[0].busy = 40ms;
  world.play(3);
  ASSERT_EQ(world.level(0), 1U);
  world.truth[0].busy = 10ms;
  world.play(10);
  EXPECT_EQ(world.level(0), 1U);
  world.play(8);
  EXPECT_EQ(world.level(0), 0U);
}

TEST(Djay, UpgradeThatGainsLessThanTheHysteresisIsNotMade) {
  const std::vector<QualityLevel> close{{"high", 1.0, 1.0}, {"nearly", 0.5, 0.99}};
  for (const double gain : {0.02, 0.005}) {
    DjayWorld world(djay_with({{"hysteresis_gain", gain}}), 1, close);
    world.truth[0].busy = 40ms;
    world.play(3);
    ASSERT_EQ(world.level(0), 1U);
    world.truth[0].busy = 10ms;
    world.play(40);
    EXPECT_EQ(world.level(0), gain == 0.02 ? 1U : 0U);
  }
}

TEST(Djay, SteadyLoadChangesNothingAfterItHasSettled) {
  DjayWorld world(djay_policy().defaults(), 4);
  world.play(120);
  const std::size_t settled = world.decisions().size();
  world.play(200);
  EXPECT_EQ(world.decisions().size(), settled);
}

TEST(Djay, OverloadAtTheCheapestLevelsStillChoosesThem) {
  DjayWorld world(djay_with({{"admission", std::string("accept_all")}}), 9);
  world.play(5);
  for (std::uint32_t game = 0; game < 9; ++game) EXPECT_EQ(world.level(game), 2U);
  EXPECT_TRUE(world.refusals().empty());
}

TEST(Djay, TimeOfAGameWithoutAMenuIsTakenOffTheBudget) {
  auto clients = DjayWorld::clients(2, kDjayMenu);
  clients[1].quality_menu.clear();
  FakeBackend world(djay_policy(), djay_policy().defaults(), clients);
  world.join(0);
  world.join(1);
  for (int i = 0; i < 5; ++i) {
    world.run_until(kRunStart + i * kDjayPeriod);
    const std::uint32_t level = world.level(0);
    const Duration busy{std::llround(13e6 * kDjayMenu[level].cost)};
    world.script(0, {.name = "frame", .duration = busy, .is_render = true, .quality_level = level});
    world.script(1, {.name = "frame", .duration = 22ms, .is_render = true});
  }
  world.run_until(world.now() + kDjayPeriod);
  EXPECT_EQ(world.level(0), 1U);
  for (const DecisionFact& decision : world.decisions())
    EXPECT_FALSE(decision.action.kind == Action::Kind::kSetQuality && decision.action.client.value == 1);
}

TEST(Djay, LevelsRiseAgainWhenAPlayerLeaves) {
  DjayWorld world(djay_policy().defaults(), 4);
  world.play(30);
  world.leave_and_stop(3);
  world.play(20);
  EXPECT_NEAR(world.mean_quality(), 0.92, 1e-9);
}

TEST(Djay, ThresholdTriggerActsOnlyWhenSpareTimeRunsLow) {
  DjayWorld world(djay_with({{"trigger", std::string("threshold")}}), 2);
  world.truth[0].busy = world.truth[1].busy = 20ms;
  world.play(20);
  EXPECT_NEAR(world.mean_quality(), 0.88, 1e-9);
  world.truth[0].busy = world.truth[1].busy = 10ms;
  world.play(40);
  EXPECT_NEAR(world.mean_quality(), 0.88, 1e-9) << "plenty of time is no reason to act";
}

TEST(Djay, BestEffortClientsAreOpen) {
  auto clients = DjayWorld::clients(1, kDjayMenu);
  clients.push_back(fake_client("train"));
  FakeBackend world(djay_policy(), djay_policy().defaults(), clients);
  world.join(0);
  world.join(1);
  world.run_until(world.now() + 1ms);
  EXPECT_TRUE(world.gate_is_open(1));
}

TEST(Djay, SlowFirstFrameAtANewLevelIsNotTakenForTheLevelSCost) {
  DjayWorld world(djay_policy().defaults(), 1);
  world.truth[0].switch_cost = 25ms;
  world.play(100);
  EXPECT_EQ(world.level(0), 0U) << "38 ms would not fit, 13.3 ms do";
}

TEST(Djay, UpgradeWhoseFirstFrameDoesNotFitWaitsUntilPatienceEnds) {
  DjayWorld world(djay_with({{"switch_patience", std::int64_t{40}}}), 1);
  world.truth[0].switch_cost = 25ms;  // which its change to the cheapest level shows
  world.play(30);
  EXPECT_EQ(world.level(0), 2U);
  world.play(20);
  EXPECT_EQ(world.level(0), 0U);
}

TEST(Djay, TwoUpgradesWhoseFirstFramesFitOneByOneAreMadeOneByOne) {
  // Together: 2 * 13.3 ms + 2 * 5 ms > 33.3 ms.
  DjayWorld world(djay_with({{"settings_switch_cost", Duration{5ms}}}), 2);
  for (TrueGame& game : world.truth) game.switch_cost = 5ms;
  world.play(40);
  EXPECT_EQ(world.level(0), 0U);
  EXPECT_EQ(world.level(1), 0U);
  for (const Duration round : world.rounds) EXPECT_LE(round, kDjayPeriod);
}

TEST(Djay, WeightedObjectiveSparesTheClientThatMattersMore) {
  for (const std::uint32_t favourite : {0U, 1U, 2U}) {
    const ByClient weights{{"game" + std::to_string(favourite), 3.0}};
    DjayWorld world(djay_with({{"objective", std::string("weighted")}, {"weights", weights}}), 3);
    world.play(60);
    for (std::uint32_t game = 0; game < 3; ++game)
      EXPECT_EQ(world.level(game) == 0, game == favourite) << game << " of favourite " << favourite;
  }
}

TEST(Djay, MaxMinRaisesTheWorstOffWhereTheSumWouldNot) {
  // The sum gives one game everything: its steep menu is the better bargain.
  const std::vector<QualityLevel> menu{{"high", 1.0, 1.0}, {"medium", 0.7, 0.6}, {"low", 0.4, 0.5}};
  DjayWorld sum(djay_policy().defaults(), 2, menu);
  DjayWorld fair(djay_with({{"objective", std::string("max_min")}}), 2, menu);
  for (DjayWorld* world : {&sum, &fair}) {
    for (TrueGame& game : world->truth) game.busy = 22ms;
    world->play(60);
  }
  EXPECT_NE(sum.level(0), sum.level(1));
  EXPECT_EQ(fair.level(0), 1U);
  EXPECT_EQ(fair.level(1), 1U);
}

int rounds_over(const DjayWorld& world, Duration budget) {
  return static_cast<int>(std::ranges::count_if(world.rounds, [&](Duration round) { return round > budget; }));
}

TEST(Djay, HigherCostQuantileKeepsMoreRoundsOfNoisyGamesWithinThePeriod) {
  std::vector<int> overruns;
  for (const double quantile : {0.0, 0.5, 0.9}) {
    DjayWorld world(djay_with({{"cost_quantile", quantile}}), 4);
    for (TrueGame& game : world.truth) game.noise = 0.15;
    world.play(2000);
    overruns.push_back(rounds_over(world, kDjayPeriod));
  }
  EXPECT_LT(2 * overruns[1], overruns[0]);
  EXPECT_LT(2 * overruns[2], overruns[1]);
  EXPECT_LT(overruns[1], 40) << "of 2000";
}

TEST(Djay, TimeOfARefusedPlayerWhoIsStillThereIsNobodysShortage) {
  DjayWorld world(djay_with({{"trigger", std::string("threshold")}}), 2);
  world.truth[0].busy = 20ms;
  world.truth[1].busy = 110ms;  // 36 ms at its cheapest level
  world.set_depth(1, 4);
  world.play(2);
  world.at(world.now() + 1ms, [&] {  // behind the frame that its verdict waits for
    world.script(1, {.name = "copy", .duration = std::chrono::seconds{30}, .is_copy = true});
  });
  world.play(5);
  ASSERT_EQ(world.refusals().size(), 1U);
  ASSERT_TRUE(world.is_present(1)) << "its copy is in flight";
  world.truth[0].busy = 40ms;
  world.play(20);
  ASSERT_EQ(world.level(0), 1U);
  world.truth[0].busy = 10ms;
  world.play(40);
  EXPECT_EQ(world.level(0), 1U) << "plenty of time is no reason to act";
}

TEST(Djay, ThresholdTriggerActsWhenLessThanTheGapIsLeft) {
  // 10 ms of game 0 at the middle level, and 30 ms of budget.
  for (const Duration gap : {Duration{19'900'000}, Duration{20'100'000}}) {
    DjayWorld world(djay_with({{"trigger", std::string("threshold")},
                               {"capacity_gap", gap},
                               {"frame_budget", Duration{30ms}},
                               {"headroom", 0.0},
                               {"probe_every", std::int64_t{0}}}),
                    1, {{"high", 1.0, 1.0}, {"medium", 0.5, 0.88}, {"low", 0.25, 0.70}});
    world.truth[0].busy = 40ms;
    world.play(20);
    ASSERT_EQ(world.level(0), 1U);
    world.truth[0].busy = 20ms;
    world.play(40);
    EXPECT_EQ(world.level(0), gap < 20ms ? 1U : 0U);
  }
}

TEST(Djay, RoundAfterAnOverloadIsAsLongAsAnyOther) {
  const Parameters parameters = djay_with(
      {{"period_frames", std::int64_t{30}}, {"dwell_frames", std::int64_t{0}}, {"probe_every", std::int64_t{0}}});
  DjayWorld world(parameters, 1);
  world.truth[0].busy = 40ms;
  for (int i = 0; i < 10 && world.level(0) != 1; ++i) world.play(1);
  ASSERT_EQ(world.level(0), 1U);
  world.truth[0].busy = 10ms;
  int frames = 0;
  for (; world.level(0) != 0 && frames < 100; ++frames) world.play(1);
  EXPECT_EQ(frames, 30);
}

TEST(Djay, RoundOfSeveralFramesEndsAfterSoManyOfEveryGame) {
  DjayWorld world(djay_with({{"period_frames", std::int64_t{30}}, {"dwell_frames", std::int64_t{0}}}), 2);
  for (TrueGame& game : world.truth) game.busy = 20ms;
  world.play(20);
  ASSERT_NEAR(world.mean_quality(), 0.88, 1e-9);
  for (TrueGame& game : world.truth) game.busy = 10ms;
  int frames = 0;
  for (; world.level(0) != 0 && frames < 100; ++frames) world.play(1);
  EXPECT_GT(frames, 5) << "no overload, so the round goes on";
  EXPECT_LE(frames, 31);
}

}  // namespace
}  // namespace corun

#include <gtest/gtest.h>

#include "tests/policies/djay/djay_world.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;

std::vector<DecisionFact> shadows_of(const DjayWorld& world) {
  std::vector<DecisionFact> shadows;
  std::ranges::copy_if(world.decisions(), std::back_inserter(shadows),
                       [](const DecisionFact& fact) { return fact.action.kind == Action::Kind::kShadow; });
  return shadows;
}

TEST(DjayProbes, MisreportedPicturesAreFoundOutWhileThereIsRoom) {
  // "low" looks far worse than its menu says. When scenes get heavy, one player at the best level and one at that one
  // would be the choice of a policy that believes the menu.
  const std::vector<QualityLevel> menu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.87}};
  DjayWorld prober(djay_policy().defaults(), 2, menu);
  DjayWorld believer(djay_with({{"probe_every", std::int64_t{0}}}), 2, menu);
  for (DjayWorld* world : {&prober, &believer}) {
    world->shadow_of = [world](std::uint32_t game, std::uint32_t level) {
      ShadowFrame shadow;
      shadow.gpu_busy = world->time_at(game, level);
      shadow.quality = level == 2 ? 0.30 : world->quality_at(game, level);
      return shadow;
    };
    for (TrueGame& game : world->truth) game.busy = 10ms;
    world->play(200);
    for (TrueGame& game : world->truth) game.busy = 23ms;
    world->play(60);
  }
  EXPECT_EQ(believer.level(0) + believer.level(1), 2U);
  EXPECT_NE(believer.level(0), believer.level(1));
  EXPECT_EQ(prober.level(0), 1U);
  EXPECT_EQ(prober.level(1), 1U);
}

TEST(DjayProbes, SceneWhoseSettingsMatterLessIsLearntAndItsLevelsFit) {
  // Steps are worth less GPU time than the menu says: trusting it overruns the period on the way up.
  DjayWorld learner(djay_policy().defaults(), 3), believer(djay_with({{"cost_model", std::string("ratio")}}), 3);
  for (DjayWorld* world : {&learner, &believer}) {
    world->scene = 1;
    for (TrueGame& game : world->truth) game.busy = 16ms, game.cost_exponent = 1.6;
    world->play(300);
  }
  const auto overruns = [](const DjayWorld& world) {
    return std::ranges::count_if(world.rounds, [](Duration round) { return round > kDjayPeriod; });
  };
  EXPECT_LT(overruns(learner), overruns(believer));
}

TEST(DjayProbes, SteadyGamesAreNotProbedForEver) {
  DjayWorld world(djay_policy().defaults(), 2);
  for (TrueGame& game : world.truth) game.busy = 8ms;
  world.play(200);
  const std::size_t probes = shadows_of(world).size();
  EXPECT_GE(probes, 6U);
  world.play(1000);
  EXPECT_EQ(shadows_of(world).size(), probes);
}

TEST(DjayProbes, NewSceneIsProbedAgain) {
  DjayWorld world(djay_policy().defaults(), 1);
  world.scene = 1;
  world.play(200);
  const std::size_t probes = shadows_of(world).size();
  world.scene = 2;
  world.play(200);
  EXPECT_GT(shadows_of(world).size(), probes);
}

TEST(DjayProbes, ShadowIsAskedForOnlyWhereItFitsBesideAllGames) {
  DjayWorld world(djay_with({{"probe_until", 0.0}}), 3);
  world.play(400);
  ASSERT_FALSE(shadows_of(world).empty());
  for (const DecisionFact& shadow : shadows_of(world)) {
    const std::size_t round = static_cast<std::size_t>(shadow.time.time_since_epoch() / kDjayPeriod);
    const std::uint32_t game = shadow.action.client.value;
    EXPECT_LE(world.rounds[round] + world.time_at(game, shadow.action.count), kDjayPeriod);
  }
}

TEST(DjayProbes, PlayerWhoComesBackIsProbedLikeANewOne) {
  DjayWorld world(djay_policy().defaults(), 1);
  world.play(200);
  world.leave_and_stop(0);
  world.play(1);
  const std::size_t probes = shadows_of(world).size();
  world.join_and_play(0);
  world.play(30);
  EXPECT_GT(shadows_of(world).size(), probes);
}

TEST(DjayProbes, NoRoomNoShadow) {
  DjayWorld world(djay_with({{"admission", std::string("accept_all")}}), 8);
  for (TrueGame& game : world.truth) game.busy = 20ms;
  world.play(200);
  EXPECT_TRUE(shadows_of(world).empty());
}

TEST(DjayProbes, OneGameAtATimeAndEachInItsTurn) {
  DjayWorld world(djay_policy().defaults(), 3);
  for (TrueGame& game : world.truth) game.busy = 5ms;
  world.play(200);
  const auto shadows = shadows_of(world);
  for (std::size_t i = 1; i < shadows.size(); ++i) EXPECT_GT(shadows[i].time, shadows[i - 1].time);
  for (std::uint32_t game = 0; game < 3; ++game) EXPECT_GE(world.shadows(game), 3U);
}

TEST(DjayProbes, NoneWithoutTheRegressionOrWhenTurnedOff) {
  for (const auto& parameters :
       {djay_with({{"cost_model", std::string("ratio")}}), djay_with({{"cost_model", std::string("static_table")}}),
        djay_with({{"probe_every", std::int64_t{0}}})}) {
    DjayWorld world(parameters, 1);
    world.play(100);
    EXPECT_TRUE(shadows_of(world).empty());
  }
}

}  // namespace
}  // namespace corun

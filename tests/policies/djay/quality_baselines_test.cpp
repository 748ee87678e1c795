#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;

using Values = std::initializer_list<std::pair<std::string, ParameterValue>>;

Parameters with(const PolicyDescriptor& policy, Values values) {
  Parameters parameters = policy.defaults();
  for (const auto& [name, value] : values) parameters.set(name, value);
  return parameters;
}

const std::vector<QualityLevel> kThree{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};
const std::vector<QualityLevel> kTwo{{"high", 1.0, 1.0}, {"low", 0.4, 0.7}};

ClientView game(const std::string& name, std::vector<QualityLevel> menu = kThree) {
  ClientView client = fake_client(name, Role::kInteractive);
  client.quality_menu = std::move(menu);
  return client;
}

std::size_t changes_of(const FakeBackend& world, std::uint32_t client) {
  return static_cast<std::size_t>(std::ranges::count_if(world.decisions(), [&](const DecisionFact& decision) {
    return decision.action.kind == Action::Kind::kSetQuality && decision.action.client.value == client;
  }));
}

struct StaticWorld : FakeBackend {
  StaticWorld(Values values, std::vector<ClientView> clients)
      : FakeBackend(static_quality_policy(), with(static_quality_policy(), values), std::move(clients)) {}
};

TEST(StaticQuality, SetsEveryGameToItsLevelAsItJoins) {
  const std::vector<QualityLevel> four{
      {"very high", 1.0, 1.0}, {"high", 0.8, 0.9}, {"medium", 0.6, 0.8}, {"low", 0.4, 0.6}};
  const std::pair<std::string, std::vector<std::uint32_t>> expected[] = {
      {"best", {0, 0}}, {"middle", {1, 1}}, {"cheapest", {2, 3}}};
  for (const auto& [level, levels] : expected) {
    StaticWorld world({{"level", level}}, {game("a"), game("b", four)});
    world.join(0);
    world.join(1);
    world.run_until(kRunStart + 1ms);
    EXPECT_EQ(world.level(0), levels[0]) << level;
    EXPECT_EQ(world.level(1), levels[1]) << level;
  }
}

TEST(StaticQuality, KeepsTheLevelWhateverItsFramesCost) {
  StaticWorld world({{"level", std::string("middle")}}, {game("a")});
  world.join(0);
  for (int i = 0; i < 200; ++i) world.script(0, {.name = "frame", .duration = 90ms, .is_render = true});
  world.run_until(kRunStart + 20s);
  EXPECT_EQ(world.level(0), 1U);
  EXPECT_EQ(changes_of(world, 0), 1U);
}

TEST(StaticQuality, HasNothingToDoForAGameThatIsAtThatLevelAlready) {
  StaticWorld world({{"level", std::string("best")}}, {game("a")});
  world.join(0);
  world.run_until(kRunStart + 1ms);
  EXPECT_EQ(changes_of(world, 0), 0U);
  EXPECT_TRUE(world.gate_is_open(0));
}

TEST(StaticQuality, RefusesPlayersBeyondTheLimitUntilOneHasLeft) {
  StaticWorld world({{"most_players", std::int64_t{2}}},
                    {game("a"), game("b"), game("c"), game("d"), fake_client("t")});
  world.join(4);
  for (std::uint32_t player = 0; player < 3; ++player) world.join(player);
  world.run_until(kRunStart + 1ms);
  EXPECT_TRUE(world.is_present(0));
  EXPECT_TRUE(world.is_present(1));
  EXPECT_FALSE(world.is_present(2));
  EXPECT_TRUE(world.gate_is_open(4)) << "training is no player";
  ASSERT_EQ(world.refusals().size(), 1U);
  EXPECT_EQ(world.refusals()[0].client.value, 2U);
  EXPECT_EQ(world.refusals()[0].reason.rule, "server_full");
  EXPECT_EQ(world.refusals()[0].reason.available, 2.0);
  world.leave(0);
  world.run_until(kRunStart + 2ms);
  world.join(3);
  world.run_until(kRunStart + 3ms);
  EXPECT_TRUE(world.is_present(3));
  EXPECT_EQ(world.refusals().size(), 1U);
}

/// Games that run at a given rate at each level; a frame keeps the device busy for a millisecond.
struct StimpackWorld : FakeBackend {
  StimpackWorld(std::vector<ClientView> clients, std::vector<std::vector<double>> fps_by_level, Values values = {})
      : FakeBackend(stimpack_policy(), with(stimpack_policy(), values), clients), fps(std::move(fps_by_level)) {
    for (std::uint32_t game = 0; game < fps.size(); ++game) {
      join(game);
      begin_frame(game);
    }
  }

  void begin_frame(std::uint32_t game) {
    if (!is_present(game)) return;
    script(game, {.name = "frame", .duration = frame_time, .is_render = true});
    const auto interval = Duration{static_cast<std::int64_t>(1e9 / fps[game][level(game)])};
    at(now() + interval, [this, game] { begin_frame(game); });
  }

  /// Plays until shortly after the end of round `round`, counted from 1.
  void play_through(int round) { run_until(kRunStart + round * 5s + 1ms); }

  std::vector<std::uint32_t> levels() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t game = 0; game < fps.size(); ++game) all.push_back(level(game));
    return all;
  }

  std::vector<std::vector<double>> fps;  ///< by game, by level
  Duration frame_time = 1ms;
};

using Levels = std::vector<std::uint32_t>;

TEST(Stimpack, GamesStartAtTheCheapestLevelAndRiseOneStepARound) {
  StimpackWorld world({game("a"), game("b")}, {{60, 60, 60}, {60, 60, 60}});
  world.run_until(kRunStart + 5s - 1ms);
  EXPECT_EQ(world.levels(), (Levels{2, 2}));
  world.play_through(1);
  EXPECT_EQ(world.levels(), (Levels{1, 2})) << "equal scores: the first";
  world.play_through(2);
  EXPECT_EQ(world.levels(), (Levels{1, 1})) << "0.18 of quality to gain against 0.12";
  world.play_through(4);
  EXPECT_EQ(world.levels(), (Levels{0, 0}));
  world.play_through(20);
  EXPECT_EQ(world.levels(), (Levels{0, 0}));
}

TEST(Stimpack, StartUnchangedLeavesAJoiningGameItsLevel) {
  StimpackWorld world({game("a")}, {{60, 60, 60}}, {{"start", std::string("unchanged")}});
  world.run_until(kRunStart + 1s);
  EXPECT_EQ(world.levels(), Levels{0});
}

TEST(Stimpack, SlowGameMakesTheOneGoDownThatLosesLeastQuality) {
  const std::vector<QualityLevel> alike{{"high", 1.0, 1.0}, {"medium", 0.6, 0.98}, {"low", 0.3, 0.5}};
  StimpackWorld world({game("slow"), game("fast", alike)}, {{28, 28, 28}, {30, 30, 30}},
                      {{"start", std::string("unchanged")}});
  world.play_through(1);
  EXPECT_EQ(world.levels(), (Levels{0, 1})) << "0.02 of quality to lose against 0.12";
  world.play_through(2);
  EXPECT_EQ(world.levels(), (Levels{1, 1})) << "0.12 against 0.48";
}

TEST(Stimpack, RatesFrom29To33MoveNobody) {
  StimpackWorld world({game("a"), game("b")}, {{60, 60, 60}, {60, 31, 60}});
  world.play_through(2);
  ASSERT_EQ(world.levels(), (Levels{1, 1}));
  world.play_through(12);
  EXPECT_EQ(world.levels(), (Levels{1, 1})) << "the game at 31 frames/s keeps the other one down too";
}

TEST(Stimpack, GameWithoutALevelToGainHoldsNobodyBack) {
  StimpackWorld world({game("a"), game("b", {{"only", 1.0, 1.0}})}, {{60, 60, 60}, {31}});
  world.play_through(1);
  EXPECT_EQ(world.level(0), 1U);
}

TEST(Stimpack, GoingUpTakesTheBufferOverTheObjective) {
  for (const double fps : {37.0, 39.0}) {
    StimpackWorld world({game("a")}, {{fps, fps, fps}});
    world.play_through(1);
    EXPECT_EQ(world.level(0), fps > 38 ? 1U : 2U) << fps;
  }
}

std::vector<int> rounds_of_changes(const FakeBackend& world) {
  std::vector<int> rounds;
  for (const DecisionFact& decision : world.decisions())
    if (decision.action.kind == Action::Kind::kSetQuality && decision.time > kRunStart)
      rounds.push_back(static_cast<int>((decision.time - kRunStart) / Duration{5s}));
  return rounds;
}

TEST(Stimpack, OscillationMakesTheRoundsPauseLongerEachTime) {
  StimpackWorld world({game("a", kTwo)}, {{25, 60}});
  world.play_through(21);
  // Up in 1, down in 2: pause of 2 rounds. Up in 4, down in 5: pause of 8. The level before was chosen too long ago
  // in 13 and 14, which ends the series; down again in 16 pauses anew.
  EXPECT_EQ(rounds_of_changes(world), (std::vector<int>{1, 2, 4, 5, 13, 14, 15, 16, 20, 21}));
}

TEST(Stimpack, LevelCountsAsGoneBackToForSoManyRounds) {
  const std::pair<std::int64_t, std::vector<int>> expected[] = {{3, {1, 2, 4, 5}}, {2, {1, 2, 4, 5, 6, 7}}};
  for (const auto& [oscillation_rounds, changes] : expected) {
    StimpackWorld world({game("a", kTwo)}, {{25, 60}}, {{"oscillation_rounds", oscillation_rounds}});
    world.play_through(10);
    EXPECT_EQ(rounds_of_changes(world), changes) << oscillation_rounds;
  }
}

TEST(Stimpack, WithoutBackoffAnOscillationGoesOn) {
  StimpackWorld world({game("a", kTwo)}, {{25, 60}}, {{"backoff", false}});
  world.play_through(6);
  EXPECT_EQ(rounds_of_changes(world), (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(Stimpack, GamePacedAt30GoesUpIfTheDeviceHasIdleTime) {
  for (const Duration frame_time : {20ms, 30ms}) {
    ClientView paced = game("a");
    paced.frame_period = 33'333'333ns;
    StimpackWorld world({paced}, {{30, 30, 30}});
    world.frame_time = frame_time;
    world.play_through(1);
    EXPECT_EQ(world.level(0), frame_time == 20ms ? 1U : 2U) << "50 frames/s would be possible, or 33";
  }
}

TEST(Stimpack, GameThatRunsAsFastAsItCanIsJudgedByWhatItReaches) {
  StimpackWorld world({game("a")}, {{30, 30, 30}});
  world.play_through(3);
  EXPECT_EQ(world.level(0), 2U);
}

TEST(Stimpack, NewcomerIsJudgedFromItsFirstWholeWindowOn) {
  StimpackWorld world({game("a"), game("b")}, {{60, 60, 60}}, {{"start", std::string("unchanged")}});
  world.at(kRunStart + 3s, [&] {
    world.fps.push_back({25, 25, 25});
    world.join(1);
    world.begin_frame(1);
  });
  world.play_through(1);
  EXPECT_EQ(world.levels(), (Levels{0, 0}));
  world.play_through(2);
  EXPECT_EQ(world.levels(), (Levels{0, 1}));
}

TEST(Stimpack, GameThatHasShownNoFrameYetIsNotSlow) {
  StimpackWorld world({game("a"), game("b")}, {{60, 60, 60}}, {{"start", std::string("unchanged")}});
  world.join(1);
  world.play_through(3);
  EXPECT_EQ(world.levels(), Levels{0});
  EXPECT_EQ(world.level(1), 0U);
}

TEST(Stimpack, GameThatStandsStillIsSlow) {
  for (const Duration period : {0ns, 33'333'333ns}) {
    ClientView still = game("b");
    still.frame_period = period;
    StimpackWorld world({game("a"), still}, {{60, 60, 60}}, {{"start", std::string("unchanged")}});
    world.join(1);
    world.script(1, {.name = "frame", .duration = 1ms, .is_render = true});
    world.play_through(1);
    EXPECT_EQ(world.level(0), 0U);
    EXPECT_EQ(world.level(1), 1U) << "paced or not";
  }
}

}  // namespace
}  // namespace corun

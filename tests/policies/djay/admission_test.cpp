#include "policies/djay/admission.h"

#include <gtest/gtest.h>

#include "tests/policies/djay/djay_world.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

TEST(DjayAdmission, RefusesThePlayerWhoWouldNotFitAtTheCheapestLevels) {
  DjayWorld world(djay_policy().defaults(), 9);
  world.play(6);
  ASSERT_EQ(world.refusals().size(), 2U) << "seven times 4.4 ms fit in 31.6 ms";
  for (const RefusalFact& refusal : world.refusals()) {
    EXPECT_GE(refusal.client.value, 7U) << "who joined last";
    EXPECT_EQ(refusal.reason.rule, "admission");
    EXPECT_EQ(refusal.reason.unit, "ns");
    EXPECT_NEAR(refusal.reason.needed, 4.389e6, 1e3);
    EXPECT_NEAR(refusal.reason.available, 31.635e6 - 7 * 4.389e6, 1e4);
  }
  world.play(60);
  EXPECT_FALSE(world.is_present(7));
  for (std::uint32_t game = 0; game < 7; ++game) EXPECT_EQ(world.level(game), 2U);
}

TEST(DjayAdmission, PlayerOnceAdmittedStaysHoweverHeavyItsScenesBecome) {
  DjayWorld world(djay_policy().defaults(), 4);
  world.play(30);
  for (TrueGame& game : world.truth) game.busy = 60ms;
  world.play(200);
  EXPECT_TRUE(world.refusals().empty());
  for (std::uint32_t game = 0; game < 4; ++game) EXPECT_EQ(world.level(game), 2U);
}

TEST(DjayAdmission, EvictionTurnsTheLastPlayerAwayOnceTheCheapestLevelsDidNotFitForLong) {
  DjayWorld world(djay_with({{"eviction", std::string("last_joined")}, {"eviction_frames", std::int64_t{60}}}), 4);
  world.play(30);
  for (TrueGame& game : world.truth) game.busy = 28ms;  // 4 * 9.2 ms do not fit, three do
  world.play(50);
  EXPECT_TRUE(world.refusals().empty());
  world.play(20);
  ASSERT_EQ(world.refusals().size(), 1U);
  EXPECT_EQ(world.refusals()[0].client.value, 3U);
  EXPECT_EQ(world.refusals()[0].reason.rule, "eviction");
  world.play(200);
  EXPECT_EQ(world.refusals().size(), 1U);
}

TEST(DjayAdmission, RoomOfAnEvictedPlayerIsGivenToTheOthers) {
  DjayWorld world(djay_with({{"eviction", std::string("last_joined")}, {"trigger", std::string("threshold")}}), 4);
  world.play(30);
  for (TrueGame& game : world.truth) game.busy = 24'200us;  // 4 * 8.0 ms do not fit; 15.0 + 2 * 8.0 ms do
  world.play(100);
  EXPECT_FALSE(world.is_present(3));
  EXPECT_EQ(world.level(0) + world.level(1) + world.level(2), 5U);
}

/// Two games play from the beginning, the third one when the test lets it join.
struct LateJoiner : DjayWorld {
  explicit LateJoiner(const Parameters& parameters) : DjayWorld(parameters, 3) {
    leave_and_stop(2);
    for (TrueGame& game : truth) game.busy = 15ms;
    play(60);
  }
};

TEST(DjayAdmission, OthersMakeRoomBeforeTheFirstFrameOfAPlayerWhoJoins) {
  LateJoiner world(djay_policy().defaults());
  EXPECT_NEAR(world.mean_quality(), 1.0, 1e-9);
  world.join_and_play(2);
  EXPECT_EQ(world.level(2), 2U);
  EXPECT_EQ(world.level(0) + world.level(1), 1U) << "15 + 9.3 + 5 ms fit in 31.6 ms";
  const std::size_t before = world.rounds.size();
  world.play(60);
  for (std::size_t round = before; round < world.rounds.size(); ++round) EXPECT_LE(world.rounds[round], kDjayPeriod);
}

TEST(DjayAdmission, AsMuchRoomIsMadeAsIsStatedForAnUnknownPlayer) {
  LateJoiner generous(djay_with({{"unknown_game_cost", Duration{21ms}}}));
  generous.join_and_play(2);
  EXPECT_EQ(generous.level(0), 2U);
  EXPECT_EQ(generous.level(1), 2U);
  LateJoiner sparing(djay_with({{"unknown_game_cost", Duration{1ms}}}));
  sparing.join_and_play(2);
  EXPECT_EQ(sparing.level(0), 0U);
  EXPECT_EQ(sparing.level(1), 0U);
}

TEST(DjayAdmission, RefusalGivesTheRoomBack) {
  LateJoiner world(djay_policy().defaults());
  world.truth[2].busy = 80ms;
  world.join_and_play(2);
  world.play(40);
  EXPECT_FALSE(world.is_present(2));
  EXPECT_NEAR(world.mean_quality(), 1.0, 1e-9);
}

TEST(DjayAdmission, RefusedPlayerMayComeAgainWhenThereIsRoom) {
  LateJoiner world(djay_policy().defaults());
  world.truth[2].busy = 80ms;
  world.join_and_play(2);
  world.play(10);
  ASSERT_FALSE(world.is_present(2));
  world.leave_and_stop(0);
  world.leave_and_stop(1);
  world.play(1);
  world.join_and_play(2);
  world.play(30);
  EXPECT_TRUE(world.is_present(2));
}

TEST(DjayAdmission, JoinLevelAsConfiguredLeavesAPlayerAtItsLevelUntilItIsMeasured) {
  DjayWorld alone(djay_with({{"join_level", std::string("as_configured")}, {"verdict_frames", std::int64_t{5}}}), 1);
  alone.truth[0].busy = 50ms;
  alone.play(4);
  EXPECT_EQ(alone.level(0), 0U);
  alone.play(6);
  EXPECT_EQ(alone.level(0), 1U);
}

/// Games of one level each, in the order in which they joined.
struct Admission {
  explicit Admission(const DjayAdmission::Settings& settings) : rule(settings) {}

  DjayGame& join() {
    ClientView client;
    client.id = ClientId{static_cast<std::uint32_t>(games.size())};
    return *games.emplace_back(std::in_place, DjayGame::Settings{}, client, games.size());
  }
  void frame(std::uint32_t game, Duration gpu_busy) {
    FrameView frame;
    frame.number = games[game]->frames();
    frame.gpu_busy = gpu_busy;
    games[game]->frame_ended(frame);
  }
  Duration cost(std::uint32_t game) const { return games[game]->model().cost(0); }
  bool is_refused(std::uint32_t game) const { return games[game]->standing() == DjayGame::Standing::kRefused; }

  DjayAdmission rule;
  DjayGames games;
};

TEST(DjayAdmission, VerdictComesWithItsFrameAndAGameThatJustFitsIsAdmitted) {
  for (const Duration missing : {Duration{0}, Duration{1}}) {
    Admission admission({.verdict_frames = 2});
    admission.join().admit();
    admission.join();
    admission.join();  // another that arrives, which does not count
    for (const std::uint32_t game : {0U, 1U, 2U}) admission.frame(game, 10ms);
    EXPECT_FALSE(admission.rule.judge(admission.games, ClientId{1}, Duration{0})) << "one frame is not enough";
    admission.frame(1, 10ms);
    const Duration budget = admission.cost(0) + admission.cost(1) - missing;
    EXPECT_TRUE(admission.rule.judge(admission.games, ClientId{1}, budget));
    EXPECT_EQ(admission.is_refused(1), missing > Duration{0});
    if (missing > Duration{0}) {
      const Hold& why = admission.games[1]->why_refused();
      EXPECT_EQ(why.needed, static_cast<double>(admission.cost(1).count()));
      EXPECT_EQ(why.available, why.needed - 1.0);
    }
    EXPECT_FALSE(admission.rule.judge(admission.games, ClientId{1}, budget)) << "it has had its verdict";
  }
}

TEST(DjayAdmission, UnknownGameIsTakenForTheDearestOneThatWasMeasured) {
  Admission admission({});
  for (int i = 0; i < 4; ++i) admission.join();
  admission.games[3].reset();
  EXPECT_EQ(admission.rule.unknown_cost(admission.games), Duration{0});
  admission.frame(0, 4ms);
  admission.frame(1, 7ms);
  EXPECT_EQ(admission.rule.unknown_cost(admission.games), admission.cost(1));
  EXPECT_EQ(DjayAdmission({.unknown_cost = 5ms}).unknown_cost(admission.games), 5ms);
}

TEST(DjayAdmission, LastWhoJoinedIsEvictedAfterSoManyOfItsFramesInARowThatDidNotFit) {
  Admission admission({.evicts_last_joined = true, .eviction_frames = 3});
  for (const std::uint32_t game : {0U, 1U}) {
    admission.join().admit();
    admission.frame(game, 10ms);
  }
  admission.join();  // it joined last, but it is not admitted yet
  const Duration fits = admission.cost(0) + admission.cost(1), tight = fits - Duration{1};
  const auto end = [&](std::uint32_t game, Duration budget) {
    admission.rule.evict(admission.games, ClientId{game}, budget);
    return admission.is_refused(0) || admission.is_refused(1);
  };
  EXPECT_FALSE(end(1, tight));
  EXPECT_FALSE(end(1, tight));
  EXPECT_FALSE(end(1, fits)) << "that ends the row";
  EXPECT_FALSE(end(1, tight));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(end(0, tight)) << "frames of the other do not count";
  EXPECT_FALSE(end(1, tight));
  EXPECT_TRUE(end(1, tight));
  EXPECT_TRUE(admission.is_refused(1));
  EXPECT_EQ(admission.games[1]->why_refused().needed, static_cast<double>(fits.count()));
  EXPECT_EQ(admission.games[1]->why_refused().available, static_cast<double>(tight.count()));
  for (int i = 0; i < 2; ++i) admission.rule.evict(admission.games, ClientId{0}, Duration{1});
  EXPECT_FALSE(admission.is_refused(0)) << "the row begins anew for the next";
  admission.rule.evict(admission.games, ClientId{0}, Duration{1});
  EXPECT_TRUE(admission.is_refused(0));
}

TEST(DjayAdmission, NobodyIsEvictedUnlessToldSo) {
  Admission admission({.eviction_frames = 1});
  admission.join().admit();
  admission.frame(0, 10ms);
  for (int i = 0; i < 3; ++i) admission.rule.evict(admission.games, ClientId{0}, 1ms);
  EXPECT_FALSE(admission.is_refused(0));
}

}  // namespace
}  // namespace corun

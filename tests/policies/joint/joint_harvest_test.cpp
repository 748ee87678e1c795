#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/policies/joint/joint_world.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

/// Levels over time, and who was turned away: all that djay decides.
std::vector<std::pair<Time, Action>> quality_decisions(const FakeBackend& world) {
  std::vector<std::pair<Time, Action>> all;
  for (const DecisionFact& decision : world.decisions()) {
    const Action::Kind kind = decision.action.kind;
    if (kind == Action::Kind::kSetQuality || kind == Action::Kind::kShadow || kind == Action::Kind::kRefuse)
      all.emplace_back(decision.time, decision.action);
  }
  return all;
}

bool is_same(const std::pair<Time, Action>& a, const std::pair<Time, Action>& b) {
  return a.first == b.first && a.second.kind == b.second.kind && a.second.client == b.second.client &&
         a.second.count == b.second.count;
}

RC_GTEST_PROP(JointHarvest, WithoutAValueOfFillersEveryLevelIsThatOfDjay, ()) {
  const auto games = *rc::gen::inRange<std::size_t>(1, 6);
  const double headroom = *rc::gen::element(0.0, 0.05, 0.3);
  const auto objective = std::string(*rc::gen::element("sum", "weighted"));
  const ByClient weights{{"game1", 3.0}, {"train", 5.0}};
  const auto set = [&](Parameters parameters) {
    parameters.set("headroom", headroom);
    parameters.set("objective", objective);
    parameters.set("weights", weights);
    return parameters;
  };
  DjayWorld djay(set(djay_with({})), games);
  JointWorld joint(set(joint_with({{"filler_weight", 0.0}})), games);
  joint.work(0, 4s);
  for (int change = 0; change < 4; ++change) {
    const auto busy = *rc::gen::container<std::vector<int>>(games, rc::gen::inRange(2'000, 40'000));
    const int frames = *rc::gen::inRange(1, 30);
    for (DjayWorld* world : {&djay, static_cast<DjayWorld*>(&joint)}) {
      for (std::size_t i = 0; i < games; ++i) world->truth[i].busy = Duration{busy[i] * 1'000};
      world->play(frames);
    }
  }
  const auto expected = quality_decisions(djay), found = quality_decisions(joint);
  RC_CLASSIFY(expected.size() > 5, "more than five decisions");
  RC_ASSERT(std::ranges::equal(expected, found, is_same));
}

TEST(JointHarvest, LevelsGiveWayToAFillerAtItsPriceAndComeBackWhenItHasLeft) {
  // Two games of 10 ms: a level of each saves 0.11 of a period for 0.12 of quality, the next 0.087 for 0.18.
  const std::pair<double, std::uint32_t> expected[] = {{0.0, 0}, {0.5, 0}, {1.6, 1}, {4.0, 2}};
  for (const auto& [weight, level] : expected) {
    JointWorld world(joint_with({{"filler_weight", weight}}), 2);
    for (TrueGame& game : world.truth) game.busy = 10ms;
    world.work(0, 4s);
    world.play(60);
    EXPECT_EQ(world.level(0), level) << weight;
    EXPECT_EQ(world.level(1), level) << weight;
    world.leave(world.filler());
    world.play(40);
    EXPECT_EQ(world.level(0), 0U) << weight;
  }
}

TEST(JointHarvest, FillerThatWaitsForNothingTakesNoQualityBeyondWhatItUses) {
  // 1 ms of work each period, always between frames.
  JointWorld world(joint_with({{"filler_weight", 4.0}}), 2);
  for (TrueGame& game : world.truth) game.busy = 10ms;
  for (int frame = 0; frame < 60; ++frame) {
    world.at(world.now() + 25ms, [&] { world.work(0, 1ms); });
    world.play(1);
  }
  EXPECT_EQ(world.level(0), 0U);
  world.work(0, 4s);
  world.play(40);
  EXPECT_EQ(world.level(0), 2U) << "now it could use more";
}

TEST(JointHarvest, KernelsRunBetweenFramesAlone) {
  JointWorld world(joint_with({}), 2);
  for (TrueGame& game : world.truth) game.busy = 10ms;
  world.work(0, 4s);
  world.play(60);
  std::size_t checked = 0;
  const std::vector<FakeLaunch> frames = world.launches_of(0);
  for (const FakeLaunch& kernel : world.launches_of(world.filler())) {
    const auto next = std::ranges::upper_bound(frames, kernel.time, {}, &FakeLaunch::time);
    if (next == frames.begin() || next == frames.end() || kernel.time < kRunStart + 10 * kDjayPeriod) continue;
    EXPECT_GE(kernel.time, std::prev(next)->time + 3ms) << "a frame takes at least 3.3 ms";
    EXPECT_LE(kernel.time + 500us, next->time);
    ++checked;
  }
  EXPECT_GT(checked, 500U);
}

TEST(JointHarvest, WithoutSpareTimeAFillerIsHeldToItsShare) {
  // 20 ms of frames at the best levels, which 0.5 leaves alone, 31.6 ms of budget: 6 steps of 1.665 ms.
  for (const Duration kernel : {Duration{500us}, Duration{4ms}}) {
    JointWorld world(joint_with({{"filler_weight", 0.5}, {"spare", std::string("none")}}), 2);
    for (TrueGame& game : world.truth) game.busy = 10ms;
    world.work(0, 6s, kernel);
    world.play(160);
    EXPECT_EQ(world.level(0), 0U);
    EXPECT_NEAR(world.share(0, 100, kernel), 0.3, 0.015) << "of kernels of " << to_ns(kernel) << " ns";
  }
}

TEST(JointHarvest, SpareTimeIsTheFillers) {
  JointWorld world(joint_with({{"filler_weight", 0.0}}), 2);
  for (TrueGame& game : world.truth) game.busy = 10ms;
  world.work(0, 6s);
  world.play(160);
  EXPECT_EQ(world.level(0), 0U);
  EXPECT_GT(world.share(0, 100), 0.6) << "frames of both begin at once on the fake device: 23 of 33 ms are free";
}

TEST(JointHarvest, FillersAlikeHaveSharesAlike) {
  for (const char* spare : {"fillers", "none"}) {
    JointWorld world(joint_with({{"spare", std::string(spare)}}), 1, {fake_client("a"), fake_client("b")});
    world.truth[0].busy = 10ms;
    for (const std::size_t filler : {0U, 1U}) world.work(filler, 6s);
    world.play(160);
    EXPECT_NEAR(world.share(0, 100), world.share(1, 100), 0.051) << spare << ": one step";
  }
}

TEST(JointHarvest, FillerThatMattersMoreGoesFirst) {
  const Parameters parameters =
      joint_with({{"objective", std::string("weighted")}, {"weights", ByClient{{"a", 0.5}, {"b", 2.0}}}});
  JointWorld world(parameters, 1, {fake_client("a"), fake_client("b")});
  world.truth[0].busy = 10ms;
  for (const std::size_t filler : {0U, 1U}) world.work(filler, 6s);
  world.play(160);
  EXPECT_GT(world.share(1, 100), 0.5);
  EXPECT_LT(world.share(0, 100), 0.15) << "what is spare at the ends of windows";
}

TEST(JointHarvest, FillerThatFitsInNoMemoryCostsNoQuality) {
  ClientView large = fake_client("train");
  large.allocated_bytes = 100'000'000'000;
  std::vector<ClientView> all = DjayWorld::clients(1, kDjayMenu, {large});
  DeviceView device = fake_device();
  device.memory_bytes = 16'000'000'000;
  FakeBackend world(joint_harvest_policy(), joint_with({{"filler_weight", 50.0}}), all, device);
  world.join(0);
  world.join(1);
  world.script(1, {.name = "k", .duration = 1ms, .predicted = 1ms});
  for (int i = 0; i < 40; ++i) {
    const Duration busy{std::llround(10e6 * kDjayMenu[world.level(0)].cost)};
    world.script(0, {.name = "frame", .duration = busy, .is_render = true, .quality_level = world.level(0)});
    world.run_until(world.now() + kDjayPeriod);
  }
  EXPECT_EQ(world.level(0), 0U);
  EXPECT_TRUE(world.launches_of(1).empty());
}

TEST(JointHarvest, ShadowFramesTakeNoTimeOfAShare) {
  JointWorld world(joint_with({}), 1);
  world.truth[0].busy = 10ms;
  world.work(0, 6s);
  world.play(60);
  EXPECT_EQ(world.shadows(0), 0U) << "the filler's share is all that the game leaves";
  world.leave(world.filler());
  world.play(60);
  EXPECT_GE(world.shadows(0), 3U);
}

TEST(JointHarvest, GameThatIsTurnedAwayIsNotLetIn) {
  JointWorld world(joint_with({}), 2);
  world.truth[0].busy = 20ms;
  world.truth[1].busy = 110ms;
  world.work(0, 1s);
  world.play(10);
  ASSERT_EQ(world.refusals().size(), 1U);
  EXPECT_EQ(world.refusals()[0].client.value, 1U);
  EXPECT_FALSE(world.is_present(1));
}

}  // namespace
}  // namespace corun

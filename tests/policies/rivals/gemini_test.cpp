#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/parts/kernel_bursts.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Time after(Duration duration) { return kRunStart + duration; }

struct World : FakeBackend {
  explicit World(const Parameters& parameters = gemini_policy().defaults(), Role first = Role::kBestEffort)
      : FakeBackend(gemini_policy(), parameters, {fake_client("a", first), fake_client("b"), fake_client("c")}) {
    for (std::uint32_t i = 0; i < 3; ++i) join(i);
  }
  void busy(std::uint32_t client, int count, Duration duration) {
    for (int i = 0; i < count; ++i) script(client, {.duration = duration});
  }
  /// Share of [from, to) in which the client's kernels of `length` began.
  double share(std::uint32_t client, Duration from, Duration to, Duration length) const {
    const auto its = launches_of(client);
    const auto count =
        std::ranges::count_if(its, [&](const auto& l) { return l.time >= after(from) && l.time < after(to); });
    return static_cast<double>(count) * to_seconds(length) / to_seconds(to - from);
  }
};

Parameters with(std::string name, ParameterValue value) {
  Parameters parameters = gemini_policy().defaults();
  parameters.set(std::move(name), std::move(value));
  return parameters;
}

TEST(Gemini, TokenLastsForTheQuotaAndThenGoesToTheNext) {
  World world;
  world.busy(0, 1000, 10ms);
  world.busy(1, 1000, 10ms);
  world.run_until(after(2s));
  // A kernel that would end with the quota is not launched any more.
  EXPECT_EQ(world.launches_of(0)[28].time, after(280ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(290ms));
  EXPECT_EQ(world.launches_of(1)[28].time, after(570ms));
  EXPECT_EQ(world.launches_of(0)[29].time, after(580ms));
}

TEST(Gemini, BurstThatWouldNotEndWithinTheQuotaIsNotBegun) {
  World world;
  for (int i = 0; i < 3; ++i) world.at(after(i * 110ms), [&] { world.busy(0, 1, 100ms); });
  world.busy(1, 10, 10ms);
  world.run_until(after(1s));
  // At 220 ms client 0 has 80 ms left for a burst that it estimates at 100 ms: it gives the token back.
  EXPECT_EQ(world.launches_of(0)[1].time, after(110ms));
  EXPECT_EQ(world.launches_of(1)[0].time, after(220ms));
  EXPECT_GT(world.launches_of(0)[2].time, after(220ms));
}

/// Bursts of 1 ms, 4 ms apart, whose length alone decides the second quota, from 300 ms on.
TEST(Gemini, AQuotaIsNoShorterThanTheLeastOne) {
  for (const Duration least : {Duration{20ms}, Duration{40ms}}) {
    Parameters parameters = with("update_rate", 1.0);
    parameters.set("least_quota", least);
    World world(parameters);
    for (int i = 0; i < 100; ++i) world.at(after(i * 5ms), [&] { world.busy(0, 1, 1ms); });
    world.at(after(302ms), [&] { world.busy(1, 1, 1ms); });
    world.run_until(after(1s));
    const Time first = world.launches_of(1).at(0).time;
    EXPECT_GE(first, after(295ms + least));
    EXPECT_LE(first, after(300ms + least));
  }
}

TEST(Gemini, NextQuotaIsTheMeanOfTheLastOneAndTheEstimatedBurst) {
  World world;
  // Bursts of 40 ms, 10 ms apart: quotas of 300, then 170 ms.
  for (int i = 0; i < 20; ++i) world.at(after(i * 50ms), [&] { world.busy(0, 1, 40ms); });
  world.at(after(305ms), [&] { world.busy(1, 10, 10ms); });
  world.run_until(after(1s));
  // The seventh burst, at 300 ms, begins the second quota; the burst at 450 ms would not end by 470 ms.
  EXPECT_EQ(world.launches_of(1)[0].time, after(450ms));
}

TEST(Gemini, HolderThatFallsIdleKeepsTheTokenUntilItsQuotaIsOver) {
  World world;
  world.busy(0, 1, 10ms);
  world.busy(1, 1, 10ms);
  world.run_until(after(1s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(300ms));
}

TEST(Gemini, LateKernelDoesNotKeepTheToken) {
  World world;
  world.busy(0, 1, 1s);
  world.busy(1, 1, 10ms);
  world.run_until(after(2s));
  EXPECT_EQ(world.launches_of(1)[0].time, after(300ms));
}

TEST(Gemini, RequestsAreMetAndTheRestGoesToWhoeverUsedLeast) {
  World world(with("requests", ByClient{{"a", 0.6}, {"b", 0.2}}));
  for (const std::uint32_t client : {0U, 1U, 2U}) world.busy(client, 5'000, 10ms);
  world.run_until(after(40s));
  EXPECT_NEAR(world.share(0, 20s, 40s, 10ms), 0.6, 0.04);
  EXPECT_NEAR(world.share(1, 20s, 40s, 10ms), 0.2, 0.04);
  EXPECT_NEAR(world.share(2, 20s, 40s, 10ms), 0.2, 0.04);
}

TEST(Gemini, WithoutRequestsAllGetTheSame) {
  World world;
  for (const std::uint32_t client : {0U, 1U, 2U}) world.busy(client, 5'000, 10ms);
  world.run_until(after(40s));
  for (const std::uint32_t client : {0U, 1U, 2U}) EXPECT_NEAR(world.share(client, 20s, 40s, 10ms), 1.0 / 3, 0.03);
}

TEST(Gemini, LimitHoldsEvenIfNobodyElseWantsTheDevice) {
  World world(with("limits", ByClient{{"a", 0.25}}));
  world.busy(0, 5'000, 10ms);
  world.run_until(after(9s));
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->rule, "limit");
  world.run_until(after(50s));
  EXPECT_NEAR(world.share(0, 20s, 50s, 10ms), 0.25, 0.04);
}

TEST(Gemini, FramesAndCopiesPassWithoutAToken) {
  World world(gemini_policy().defaults(), Role::kInteractive);
  world.busy(1, 1000, 10ms);
  world.at(after(50ms), [&] { world.script(0, {.name = "frame", .duration = 5ms, .is_render = true}); });
  world.at(after(50ms), [&] { world.script(2, {.name = "copy", .duration = 1ms, .is_copy = true}); });
  world.run_until(after(60ms));
  EXPECT_EQ(world.launches_of(0).size(), 1U);
  EXPECT_EQ(world.launches_of(2).size(), 1U);
}

TEST(KernelBursts, ShortGapsMergeBurstsForTheQuotaAloneAndOldBurstsAreForgotten) {
  KernelBursts bursts;
  bursts.begin(after(0ms));
  bursts.end(after(6ms));
  bursts.begin(after(7ms));
  bursts.end(after(10ms));
  EXPECT_EQ(bursts.longest_merged(after(20ms)), 10ms);
  bursts.begin(after(20ms));
  EXPECT_EQ(bursts.remaining(after(21ms)), 5ms);
  bursts.end(after(24ms));
  EXPECT_EQ(bursts.longest_merged(after(24ms)), 10ms);
  EXPECT_EQ(bursts.longest_merged(after(10'020ms)), 4ms);
}

TEST(KernelBursts, BurstThatWasCutShortTellsNothing) {
  KernelBursts bursts;
  bursts.begin(after(0ms));
  bursts.interrupt();
  bursts.end(after(300ms));
  EXPECT_EQ(bursts.longest_merged(after(300ms)), Duration::zero());
}

}  // namespace
}  // namespace corun

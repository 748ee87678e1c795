// Decisions of GaiaGPU's limiter and of what surrounds it that a workload's mean utilisation does not show.

#include "policies/limits/gaiagpu_limiter.h"

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/limits/gaiagpu_buckets.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Mode = GaiaLimiter::Mode;

constexpr GaiaLimiter::Device kV100{80, 2048};
constexpr std::int64_t kSmallStep = 25'600;  // blocks, on a V100

void turn(GaiaLimiter& limiter, int ticks, const GaiaLimiter::Reading& reading) {
  for (int i = 0; i < ticks; ++i) limiter.tick(reading);
}

TEST(GaiaLimiter, ShareGrowsUpToTheLimitItselfAndNeverFallsBelowNothing) {
  GaiaLimiter limiter(kV100, 50, {});
  limiter.tick({.own = 50, .system = 50, .processes = 2});
  EXPECT_EQ(limiter.share(), kSmallStep);
  limiter.tick({.own = 50, .system = 50, .processes = 2});
  EXPECT_EQ(limiter.share(), 2 * kSmallStep);
  limiter.tick({.own = 51, .system = 51, .processes = 2});
  EXPECT_EQ(limiter.share(), kSmallStep);
  turn(limiter, 2, {.own = 51, .system = 51, .processes = 2});
  EXPECT_EQ(limiter.share(), 0);
}

TEST(GaiaLimiter, BucketIsFilledByTheShareUpToThePool) {
  GaiaLimiter limiter(kV100, 50, {});
  turn(limiter, 2, {.own = 50, .system = 50, .processes = 2});
  EXPECT_EQ(limiter.bucket(), 3 * kSmallStep) << "one step, then two";
  turn(limiter, 100, {.own = 0, .system = 0, .processes = 2});
  EXPECT_EQ(limiter.bucket(), limiter.pool());
}

TEST(GaiaLimiter, EmptyBucketIsNoDebt) {
  GaiaLimiter limiter(kV100, 50, {});
  EXPECT_TRUE(limiter.may_launch());
  limiter.charge(1);
  EXPECT_FALSE(limiter.may_launch());
  EXPECT_EQ(limiter.bucket(), -1);
}

TEST(GaiaLimiter, StepIsAcceleratedBeyondHalfOfTheLimit) {
  const GaiaLimiter limiter(kV100, 50, {});
  EXPECT_EQ(limiter.step(50, 25), 128'000) << "80 * 80 * 2048 / 256 * 25 / 10";
  EXPECT_EQ(limiter.step(50, 24), 133'120 * 26 * 2 / 51);
  EXPECT_EQ(limiter.step(50, 75), 128'000);
  EXPECT_EQ(limiter.step(50, 44), 30'720) << "6 percent are more than the smallest difference";
}

TEST(GaiaLimiter, FullPoolDoublesOnlyWhileTheBucketIsInDebt) {
  for (const std::int64_t debt : {0, 1}) {
    GaiaLimiter limiter({20, 2048}, 50, {.doubles_pool = true, .guards_start = false});
    const std::int64_t pool = limiter.pool();
    turn(limiter, 60, {.own = 0, .system = 0, .processes = 2});
    limiter.charge(pool + debt);
    limiter.tick({.own = 0, .system = 0, .processes = 2});
    EXPECT_EQ(limiter.pool(), debt > 0 ? 2 * pool : pool);
    EXPECT_EQ(limiter.share(), limiter.pool()) << "the share is full again at once";
  }
}

TEST(GaiaLimiter, ArrivalSetsAnElasticShareToOneSmAndBeginsANewInterval) {
  GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElastic});
  limiter.tick({.own = 30, .system = 60, .processes = 2});
  EXPECT_EQ(limiter.share(), 2048 + kSmallStep);
  turn(limiter, 19, {.own = 30, .system = 60, .processes = 2});
  turn(limiter, 29, {.own = 30, .system = 60, .processes = 3});
  EXPECT_EQ(limiter.limit(), 30);
  limiter.tick({.own = 30, .system = 60, .processes = 2});
  EXPECT_EQ(limiter.limit(), 33) << "who leaves does not begin another one";
  limiter.tick({.own = 30, .system = 60, .processes = 2});
  EXPECT_EQ(limiter.limit(), 33);
}

TEST(GaiaLimiter, LoneElasticClientAimsAtTheCeilingAndItsLimitStays) {
  GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElastic, .ceiling = 90});
  limiter.tick({.own = 80, .system = 80, .processes = 1});
  EXPECT_EQ(limiter.share(), 51'200) << "10 percent below 90";
  turn(limiter, 100, {.own = 80, .system = 80, .processes = 1});
  EXPECT_EQ(limiter.limit(), 30);
  GaiaLimiter above(kV100, 60, {.mode = Mode::kElastic, .ceiling = 50});
  above.tick({.own = 55, .system = 55, .processes = 1});
  EXPECT_EQ(above.share(), kSmallStep) << "a request above the ceiling is its own ceiling";
}

TEST(GaiaLimiter, SpareOfAnElasticIntervalIsAWholeMeanOfMoreThanFivePercent) {
  for (const int full : {0, 1}) {
    GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElastic});
    turn(limiter, 15, {.own = 30, .system = 0, .processes = 2});
    turn(limiter, full, {.own = 30, .system = 95, .processes = 2});
    turn(limiter, 15 - full, {.own = 30, .system = 94, .processes = 2});
    EXPECT_EQ(limiter.limit(), full > 0 ? 30 : 33) << "89 percent in 15 ticks are no six in each";
  }
}

TEST(GaiaLimiter, PapersElasticLimitGrowsOnlyBelowTheWantedUtilisationOfTheDevice) {
  for (const std::int64_t ceiling : {90, 80})
    for (const std::int64_t above : {-1, 0}) {
      GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElasticPaper, .device_ceiling = ceiling});
      turn(limiter, 30, {.own = 30, .system = 0, .processes = 2});
      ASSERT_EQ(limiter.limit(), 33);
      turn(limiter, 30, {.own = 30, .system = ceiling + above, .processes = 2});
      EXPECT_EQ(limiter.limit(), above < 0 ? 36 : 30) << ceiling;
    }
}

TEST(GaiaLimiter, PapersElasticLimitEndsAtTheCeilingAndItsShareFollowsIt) {
  GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElasticPaper, .ceiling = 32});
  turn(limiter, 60, {.own = 30, .system = 0, .processes = 2});
  EXPECT_EQ(limiter.limit(), 32);
  const std::int64_t before = limiter.share();
  limiter.tick({.own = 32, .system = 0, .processes = 2});
  EXPECT_EQ(limiter.share(), before + kSmallStep) << "32 percent are not too much any more";
}

TEST(GaiaLimiter, ResizeBeginsAnewFromTheRequest) {
  GaiaLimiter limiter(kV100, 30, {.mode = Mode::kElastic});
  turn(limiter, 45, {.own = 30, .system = 50, .processes = 2});
  ASSERT_EQ(limiter.limit(), 33);
  limiter.resize(20);
  EXPECT_EQ(limiter.limit(), 20);
  turn(limiter, 29, {.own = 20, .system = 50, .processes = 2});
  EXPECT_EQ(limiter.limit(), 20);
  limiter.tick({.own = 20, .system = 50, .processes = 2});
  EXPECT_EQ(limiter.limit(), 22);
}

TEST(BlockBuckets, LaunchCostsItsBlocksAndAtLeastOne) {
  OpView op;
  EXPECT_EQ(BlockBuckets::cost(op), 1);
  op.blocks = 7;
  EXPECT_EQ(BlockBuckets::cost(op), 7);
  op.is_copy = true;
  EXPECT_EQ(BlockBuckets::cost(op), 0);
  op.is_copy = false, op.is_render = true;
  EXPECT_EQ(BlockBuckets::cost(op), 0);
}

/// When a client that owes 600,000 blocks from 3 ms on launches again; another one is there.
Duration second_launch(const ClientView& other, const ByClient& limits) {
  Parameters parameters = gaiagpu_policy().defaults();
  parameters.set("limits", limits);
  FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a"), other});
  world.join(0);
  world.join(1);
  world.at(kRunStart + 3ms, [&] {
    for (int i = 0; i < 2; ++i) world.script(0, {.duration = 1ms, .blocks = 600'000});
  });
  world.run_until(kRunStart + 1s);
  return world.launches_of(0).at(1).time - kRunStart;
}

TEST(GaiaGpu, ClientsThatComputeOrAreLimitedAreTheProcessesThatTheStartUpGuardCounts) {
  const ClientView game = fake_client("b", Role::kInteractive);
  // Alone its bucket is filled at the first tick; else 501,960 blocks are added, which is not enough before the second.
  EXPECT_EQ(second_launch(game, {{"a", 0.5}}), Duration{124ms});
  EXPECT_EQ(second_launch(game, {{"a", 0.5}, {"b", 0.5}}), Duration{244ms});
  EXPECT_EQ(second_launch(fake_client("b"), {{"a", 0.5}}), Duration{244ms});
}

TEST(GaiaGpu, CeilingsOfElasticLimitsAreReadInPercent) {
  for (const double ceiling : {0.32, 1.0}) {
    Parameters parameters = gaiagpu_policy().defaults();
    parameters.set("limits", ByClient{{"a", 0.3}});
    parameters.set("mode", std::string("elastic"));
    parameters.set("ceiling", ceiling);
    FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a"), fake_client("b")});
    world.join(0);
    world.join(1);
    for (int i = 0; i < 60'000; ++i) world.script(0, {.duration = 1ms, .blocks = 16'384});
    world.run_until(kRunStart + 40s);
    const Duration before = world.device_time(ClientId{0});
    world.run_until(kRunStart + 60s);
    const double used = to_seconds(world.device_time(ClientId{0}) - before) / 20.0;
    EXPECT_EQ(used < 0.4, ceiling < 1.0) << used;
  }
}

TEST(GaiaGpu, ClientWithALimitHasItsOwnBucketAndTick) {
  Parameters parameters = gaiagpu_policy().defaults();
  parameters.set("limits", ByClient{{"a", 0.5}, {"b", 0.5}});
  FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a"), fake_client("b")});
  world.join(0);
  world.at(kRunStart + 30ms, [&] { world.join(1); });
  world.at(kRunStart + 33ms, [&] {
    for (const std::uint32_t client : {0U, 1U})
      for (int i = 0; i < 2; ++i) world.script(client, {.duration = 1ms, .blocks = 400'000});
  });
  world.run_until(kRunStart + 1s);
  // Debts from 34 ms on, ticks at 120 and 150 ms, looks every 10 ms.
  EXPECT_EQ(world.launches_of(0).at(1).time, kRunStart + 124ms);
  EXPECT_EQ(world.launches_of(1).at(1).time, kRunStart + 154ms);
}

}  // namespace
}  // namespace corun

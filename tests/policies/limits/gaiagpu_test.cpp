#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/limits/gaiagpu_limiter.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

Time after(Duration duration) { return kRunStart + duration; }

struct StepRow {
  const char* gpu;
  GaiaLimiter::Device device;
  std::int64_t pool;
  std::int64_t small_step;
  std::int64_t accelerated_step;
  int ticks_to_full;
};

constexpr StepRow kStepTable[] = {
    {"GTX 1080", {20, 2048}, 1'310'720, 1'600, 31'372, 42},
    {"T4", {40, 1024}, 1'310'720, 3'200, 62'745, 21},
    {"P100", {56, 2048}, 3'670'016, 12'544, 245'960, 15},
    {"V100", {80, 2048}, 5'242'880, 25'600, 501'960, 11},
    {"A100", {108, 2048}, 7'077'888, 46'656, 914'823, 8},
    {"H200", {132, 2048}, 8'650'752, 69'696, 1'366'588, 7},
    {"RTX PRO 6000", {188, 1536}, 9'240'576, 106'032, 2'079'058, 5},
};

TEST(GaiaLimiter, StepsAndPoolEqualTheArithmeticOfTheArtifactOnEveryGpu) {
  for (const StepRow& row : kStepTable) {
    const GaiaLimiter limiter(row.device, 50, {});
    EXPECT_EQ(limiter.pool(), row.pool) << row.gpu;
    EXPECT_EQ(limiter.step(50, 50), row.small_step) << row.gpu;
    EXPECT_EQ(limiter.step(50, 45), row.small_step) << row.gpu;
    EXPECT_EQ(limiter.step(50, 0), row.accelerated_step) << row.gpu;
  }
}

TEST(GaiaLimiter, IdleClientReachesTheFullShareInTheKnownNumberOfTicks) {
  for (const StepRow& row : kStepTable) {
    GaiaLimiter limiter(row.device, 50, {});
    int ticks = 0;
    for (; limiter.share() < limiter.pool(); ++ticks) limiter.tick({.own = 0, .system = 50, .processes = 2});
    EXPECT_EQ(ticks, row.ticks_to_full) << row.gpu;
  }
}

TEST(GaiaLimiter, StartUpGuardFillsALoneIdleBucketWithoutTouchingTheShare) {
  GaiaLimiter limiter({80, 2048}, 50, {});
  limiter.charge(1'000'000);
  limiter.tick({.own = 4, .system = 4, .processes = 1});
  EXPECT_EQ(limiter.share(), 0);
  EXPECT_EQ(limiter.bucket(), limiter.step(50, 4));
  limiter.tick({.own = 5, .system = 5, .processes = 1});
  EXPECT_EQ(limiter.share(), limiter.step(50, 5));
}

TEST(GaiaLimiter, ElasticLimitClimbsATenthOfTheRequestEvery30TicksAndFallsBackOnAnArrival) {
  GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElastic, .ceiling = 90});
  const auto ticks = [&](int count, std::int64_t processes) {
    for (int i = 0; i < count; ++i) limiter.tick({.own = 30, .system = 60, .processes = processes});
  };
  ticks(29, 2);
  EXPECT_EQ(limiter.limit(), 30);
  ticks(1, 2);  // 3.6 s of ticks of 120 ms
  EXPECT_EQ(limiter.limit(), 33);
  ticks(30, 2);
  EXPECT_EQ(limiter.limit(), 36);
  ticks(18 * 30, 2);  // 20 raises lead from 30 to 90
  EXPECT_EQ(limiter.limit(), 90);
  ticks(300, 2);
  EXPECT_EQ(limiter.limit(), 90);
  ticks(1, 3);
  EXPECT_EQ(limiter.limit(), 30);
}

TEST(GaiaLimiter, ElasticShareBeginsAtTheThreadsOfAnSmOnlyWhereAnotherProcessIsThere) {
  for (const std::int64_t processes : {1, 2}) {
    GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElastic, .ceiling = 90});
    limiter.tick({.own = 0, .system = 0, .processes = processes});
    EXPECT_EQ(limiter.share(), processes == 1 ? limiter.step(90, 0) : 2048 + limiter.step(30, 0));
  }
}

TEST(GaiaLimiter, ElasticLimitNeedsADeviceWithMoreThanFivePercentToSpare) {
  for (const std::int64_t system : {94, 95}) {
    GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElastic});
    for (int i = 0; i < 30; ++i) limiter.tick({.own = 30, .system = system, .processes = 2});
    EXPECT_EQ(limiter.limit(), system == 94 ? 33 : 30);
  }
}

TEST(GaiaLimiter, LimitOfThePapersElasticModeIsGivenBackStepByStepAndNeverBelowTheRequest) {
  GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElasticPaper});
  const auto intervals = [&](int count, std::int64_t system, std::int64_t processes) {
    for (int i = 0; i < 30 * count; ++i) limiter.tick({.own = 30, .system = system, .processes = processes});
  };
  intervals(4, 60, 2);
  EXPECT_EQ(limiter.limit(), 42);
  intervals(1, 95, 3);
  EXPECT_EQ(limiter.limit(), 39) << "an arrival takes nothing at once";
  intervals(9, 95, 3);
  EXPECT_EQ(limiter.limit(), 30);
}

TEST(GaiaLimiter, ThePapersElasticLimitGrowsBelowTheWantedUtilisationAndFallsAtIt) {
  for (const std::int64_t system : {89, 90}) {
    GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElasticPaper});
    for (int i = 0; i < 30; ++i) limiter.tick({.own = 30, .system = 60, .processes = 2});
    EXPECT_EQ(limiter.limit(), 33);
    for (int i = 0; i < 30; ++i) limiter.tick({.own = 30, .system = system, .processes = 2});
    EXPECT_EQ(limiter.limit(), system == 89 ? 36 : 30);
  }
}

TEST(GaiaLimiter, StepWithAnExponentOfOneGrowsWithTheSmsAndNotWithTheirSquare) {
  for (const StepRow& row : kStepTable) {
    const GaiaLimiter limiter(row.device, 50, {.sm_exponent = 1});
    EXPECT_EQ(limiter.step(50, 50), row.device.sm_count * row.device.max_threads_per_sm / 512) << row.gpu;
    EXPECT_EQ(limiter.step(50, 50), row.small_step / row.device.sm_count) << row.gpu;
  }
}

TEST(GaiaLimiter, PoolThatIsFullAndNotEnoughDoublesWhereTheRulesSaySo) {
  for (const bool doubles : {false, true}) {
    GaiaLimiter limiter({20, 2048}, 50, {.doubles_pool = doubles, .guards_start = false});
    const std::int64_t pool = limiter.pool();
    for (int i = 0; i < 60; ++i) limiter.tick({.own = 0, .system = 0, .processes = 2});
    ASSERT_EQ(limiter.share(), pool);
    limiter.charge(3 * pool);
    limiter.tick({.own = 0, .system = 0, .processes = 2});
    EXPECT_EQ(limiter.pool(), doubles ? 2 * pool : pool);
  }
}

TEST(GaiaLimiter, ElasticLimitStaysWhileTheSecondHalfOfAnIntervalIsFull) {
  GaiaLimiter limiter({80, 2048}, 30, {.mode = GaiaLimiter::Mode::kElastic, .ceiling = 90});
  for (int i = 0; i < 15; ++i) limiter.tick({.own = 30, .system = 0, .processes = 2});
  for (int i = 0; i < 15; ++i) limiter.tick({.own = 30, .system = 96, .processes = 2});
  EXPECT_EQ(limiter.limit(), 30);
}

Parameters limits(ByClient values) {
  Parameters parameters = gaiagpu_policy().defaults();
  parameters.set("limits", std::move(values));
  return parameters;
}

/// Utilisation in percent that a back-to-back client reaches between 10 s and 40 s on a V100 under a limit, when the
/// sensor's window slides as good as continuously.
double achieved(double limit, std::uint64_t blocks, Duration duration) {
  Parameters parameters = limits({{"a", limit}});
  parameters.set("sensor_period", Duration{10ms});
  FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a")});
  world.join(0);
  const auto supply = [&](Duration span) {
    for (auto i = span / duration; i-- > 0;) world.script(0, {.duration = duration, .blocks = blocks});
  };
  supply(10s);
  world.run_until(after(10s));
  supply(40s);
  const Duration before = world.device_time(ClientId{0});
  world.run_until(after(40s));
  return to_seconds(world.device_time(ClientId{0}) - before) / 30.0 * 100.0;
}

/// A workload of equal kernels and what an independent replay of the loop let it use of a V100, in percent.
struct AchievedRow {
  std::uint64_t blocks;
  Duration duration;
  double at_30, at_50, at_70;
};

constexpr AchievedRow kAchieved[] = {
    {80, 10ms, 97, 100, 100},  {1'024, 10ms, 80, 90, 98}, {1'000, 1ms, 47, 72, 87},      {4'096, 1ms, 36, 59, 77},
    {16'384, 1ms, 31, 53, 73}, {65'536, 1ms, 31, 52, 66}, {262'144, 1ms, 1.5, 1.7, 2.5},
};

TEST(GaiaGpu, LetsALoneClientUseWhatAnIndependentReplayOfItsLoopLetsItUse) {
  constexpr double kPoints = 5.0;
  for (const AchievedRow& row : kAchieved) {
    SCOPED_TRACE(row.blocks);
    EXPECT_NEAR(achieved(0.3, row.blocks, row.duration), row.at_30, kPoints);
    EXPECT_NEAR(achieved(0.5, row.blocks, row.duration), row.at_50, kPoints);
    EXPECT_NEAR(achieved(0.7, row.blocks, row.duration), row.at_70, kPoints);
  }
}

TEST(GaiaGpu, LaunchThatFoundADebtLooksAgainEveryBackOffFromThen) {
  FakeBackend world(gaiagpu_policy(), limits({{"a", 0.5}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  world.at(after(3ms), [&] {
    for (int i = 0; i < 2; ++i) world.script(0, {.duration = 1ms, .blocks = 400'000});
  });
  world.run_until(after(1s));
  const auto launches = world.launches_of(0);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].time, after(3ms)) << "an empty bucket is no debt";
  // The second finds a debt at 4 ms. The watcher's tick at 120 ms adds 501,960; the next look is at 124 ms.
  EXPECT_EQ(launches[1].time, after(124ms));
}

TEST(GaiaGpu, BurstOfAnOpenLoopClientOverdrawsByOneLaunchOnly) {
  FakeBackend world(gaiagpu_policy(), limits({{"a", 0.5}}), {fake_client("a"), fake_client("b")});
  world.set_most_waiting(0, 10);
  world.set_depth(0, 10);
  world.join(0);
  world.join(1);
  for (int i = 0; i < 10; ++i) world.script(0, {.duration = 1ms, .blocks = 400'000});
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches_of(0).size(), 1U);
}

TEST(GaiaGpu, ClientsWithoutALimitOrWithAWholeDeviceAreOpen) {
  FakeBackend world(gaiagpu_policy(), limits({{"a", 1.0}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  world.run_until(after(1s));
  EXPECT_TRUE(world.gate_is_open(0));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_EQ(world.wake(), kNever);
}

TEST(GaiaGpu, RenderWorkAndCopiesOfALimitedClientAreFree) {
  FakeBackend world(gaiagpu_policy(), limits({{"game", 0.01}}), {fake_client("game", Role::kInteractive)});
  world.join(0);
  for (int i = 0; i < 50; ++i) {
    world.script(0, {.duration = 1ms, .blocks = 1'000'000, .is_render = true});
    world.script(0, {.duration = 1ms, .blocks = 1'000'000, .is_copy = true});
  }
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches().size(), 100U);
}

TEST(GaiaGpu, LaunchInDebtSaysHowManyBlocksAreMissingAndThenThatItSleeps) {
  FakeBackend world(gaiagpu_policy(), limits({{"a", 0.5}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  world.at(after(3ms), [&] {
    for (int i = 0; i < 2; ++i) world.script(0, {.duration = 1ms, .blocks = 400'000});
  });
  world.run_until(after(100ms));
  const Hold* hold = world.arbiter().hold_of(ClientId{0});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "tokens");
  EXPECT_EQ(hold->unit, "blocks");
  EXPECT_EQ(hold->available, -400'000.0);
  world.run_until(after(122ms));
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->rule, "back_off");
}

/// Whether a client that allocates 3 GB and needs a context of 400 MB is refused.
bool is_refused(Parameters parameters) {
  ClientView client = fake_client("a");
  client.allocated_bytes = 3'000'000'000;
  DeviceView device = fake_device();
  device.context_bytes = 400'000'000;
  FakeBackend world(gaiagpu_policy(), parameters, {client}, device);
  world.join(0);
  world.script(0, {.duration = 1ms});
  world.run_until(after(1s));
  EXPECT_EQ(world.launches().size(), world.refusals().empty() ? 1U : 0U);
  return !world.refusals().empty();
}

TEST(GaiaGpu, MemoryCapCountsTheContextAndRefusesAClientThatWouldExceedIt) {
  Parameters parameters = limits({{"a", 0.5}});
  EXPECT_FALSE(is_refused(parameters));
  parameters.set("memory_limits", ByClient{{"a", 3.0}});
  EXPECT_TRUE(is_refused(parameters)) << "3 GB alone fit into 3 GiB, with a context they do not";
  parameters.set("memory_limits", ByClient{{"a", 3.25}});
  EXPECT_FALSE(is_refused(parameters));
}

TEST(GaiaGpu, WholeDeviceHasNoMemoryCapEither) {
  Parameters parameters = limits({{"a", 1.0}});
  parameters.set("memory_limits", ByClient{{"a", 1.0}});
  EXPECT_FALSE(is_refused(parameters));
}

TEST(GaiaGpu, RefusalSaysWhatWasNeededAndWhatTheCapIs) {
  ClientView client = fake_client("a");
  client.allocated_bytes = 3'000'000'000;
  Parameters parameters = limits({});
  parameters.set("memory_limits", ByClient{{"a", 1.0}});
  FakeBackend world(gaiagpu_policy(), parameters, {client});
  world.join(0);
  world.run_until(after(1s));
  ASSERT_EQ(world.refusals().size(), 1U);
  const Hold& why = world.refusals()[0].reason;
  EXPECT_EQ(why.rule, "memory_cap");
  EXPECT_EQ(why.needed, 3e9);
  EXPECT_EQ(why.available, 1024.0 * 1024.0 * 1024.0);
  EXPECT_FALSE(world.is_present(0));
}

TEST(GaiaGpu, SensorThatSamplesTooRarelyReadsAsIdleAndLetsTheClientThrough) {
  Parameters parameters = limits({{"a", 0.3}});
  parameters.set("sensor_window", Duration{100ms});
  parameters.set("sensor_period", Duration{2s});
  FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  for (int i = 0; i < 20'000; ++i) world.script(0, {.duration = 1ms, .blocks = 16'384});
  world.run_until(after(20s));
  EXPECT_GT(to_seconds(world.device_time(ClientId{0})) / 20.0, 0.85);
}

TEST(GaiaGpu, ElasticClientBesideAnIdleOneGetsMoreThanItsRequest) {
  for (const bool elastic : {false, true}) {
    Parameters parameters = limits({{"a", 0.3}, {"b", 0.3}});
    parameters.set("mode", std::string(elastic ? "elastic" : "hard"));
    FakeBackend world(gaiagpu_policy(), parameters, {fake_client("a"), fake_client("b")});
    world.join(0);
    world.join(1);
    for (int i = 0; i < 60'000; ++i) world.script(0, {.duration = 1ms, .blocks = 16'384});
    world.run_until(after(60s));
    const double utilisation = to_seconds(world.device_time(ClientId{0})) / 60.0;
    if (elastic) {
      EXPECT_GT(utilisation, 0.45);
    } else {
      EXPECT_LT(utilisation, 0.35);
    }
  }
}

}  // namespace
}  // namespace corun

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Time after(Duration duration) { return kRunStart + duration; }

Parameters limits(ByClient values) {
  Parameters parameters = block_time_limiter_policy().defaults();
  parameters.set("limits", std::move(values));
  return parameters;
}

struct Kernels {
  Duration duration;
  Duration predicted;
  std::uint64_t blocks = 1;
  double sm_demand = 1.0;
};

/// Utilisation in percent of a back-to-back client between 2 s and 32 s.
double achieved(const Parameters& parameters, const Kernels& kernels, DeviceView device = fake_device()) {
  FakeBackend world(block_time_limiter_policy(), parameters, {fake_client("a")}, device);
  world.join(0);
  for (auto i = Duration{32s} / kernels.duration; i-- > 0;)
    world.script(0, {.duration = kernels.duration,
                     .predicted = kernels.predicted,
                     .blocks = kernels.blocks,
                     .sm_demand = kernels.sm_demand});
  world.run_until(after(2s));
  const Duration before = world.device_time(ClientId{0});
  world.run_until(after(32s));
  return to_seconds(world.device_time(ClientId{0}) - before) / 30.0 * 100.0;
}

TEST(BlockTimeLimiter, HoldsEveryCapWithinTwoPointsWhateverBlocksAndDurationsKernelsHave) {
  for (const double limit : {0.1, 0.3, 0.5, 0.7, 0.9})
    for (const std::uint64_t blocks : {std::uint64_t{80}, std::uint64_t{16'384}, std::uint64_t{262'144}})
      for (const Duration duration : {Duration{1ms}, Duration{10ms}, Duration{50ms}})
        EXPECT_NEAR(achieved(limits({{"a", limit}}), {duration, duration, blocks}), 100 * limit, 2.0)
            << limit << " with " << blocks << " blocks in " << to_milliseconds(duration) << " ms";
}

TEST(BlockTimeLimiter, DoesNotDependOnTheNumberOfSms) {
  DeviceView large = fake_device();
  large.sm_count = 188;
  large.max_threads_per_sm = 1536;
  const Parameters parameters = limits({{"a", 0.3}});
  EXPECT_EQ(achieved(parameters, {1ms, 1ms, 1'024}), achieved(parameters, {1ms, 1ms, 1'024}, large));
}

TEST(BlockTimeLimiter, SensorCorrectsPredictionsThatAreWrongOrMissing) {
  const Parameters parameters = limits({{"a", 0.4}});
  EXPECT_NEAR(achieved(parameters, {1ms, 3ms}), 40.0, 3.0);
  EXPECT_NEAR(achieved(parameters, {3ms, 1ms}), 40.0, 3.0);
  EXPECT_NEAR(achieved(parameters, {1ms, kUnknownDuration}), 40.0, 3.0);
}

TEST(BlockTimeLimiter, ClientThatWasIdleMayNotSaveMoreThanAllowed) {
  FakeBackend world(block_time_limiter_policy(), limits({{"a", 0.5}}), {fake_client("a")});
  world.join(0);
  world.at(after(20s), [&] {
    for (int i = 0; i < 2'000; ++i) world.script(0, {.duration = 1ms, .predicted = 1ms});
  });
  world.run_until(after(21s));
  EXPECT_NEAR(to_seconds(world.device_time(ClientId{0})), 0.5 + 0.2, 0.03);
}

TEST(BlockTimeLimiter, CapOnSmTimeLetsKernelsThatFillHalfOfTheSmsRunTwiceAsLong) {
  Parameters parameters = limits({{"a", 0.3}});
  parameters.set("token", std::string("sm_time"));
  EXPECT_NEAR(achieved(parameters, {1ms, 1ms, 80, 0.5}), 60.0, 2.0);
}

TEST(BlockTimeLimiter, LaunchInDebtSaysWhatItNeeds) {
  Parameters parameters = limits({{"a", 0.1}});
  parameters.set("sensor_resolution", 0.0);
  FakeBackend world(block_time_limiter_policy(), parameters, {fake_client("a")});
  world.join(0);
  for (int i = 0; i < 2; ++i) world.script(0, {.duration = 50ms, .predicted = 50ms});
  world.run_until(after(60ms));
  const Hold* hold = world.arbiter().hold_of(ClientId{0});
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->rule, "device_time_budget");
  EXPECT_EQ(hold->needed, 10e6);
  EXPECT_LT(hold->available, 0.0);
  world.run_until(after(1s));
  EXPECT_EQ(world.launches().back().time, after(600ms)) << "50 ms of debt and 10 ms of quantum at 10 %";
}

TEST(BlockTimeLimiter, ClientsWithoutALimitAreOpenAndCopiesAreFree) {
  FakeBackend world(block_time_limiter_policy(), limits({{"a", 0.01}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  for (int i = 0; i < 50; ++i) world.script(0, {.duration = 1ms, .is_copy = true});
  world.run_until(after(100ms));
  EXPECT_TRUE(world.gate_is_open(1));
  EXPECT_EQ(world.launches_of(0).size(), 50U);
}

}  // namespace
}  // namespace corun

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;

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

TEST(BlockTimeLimiter, CopiesAreFreeWhateverIsPredictedForThem) {
  FakeBackend world(block_time_limiter_policy(), limits({{"a", 0.01}}), {fake_client("a"), fake_client("b")});
  world.join(0);
  world.join(1);
  for (const std::uint32_t client : {0U, 1U}) {
    for (int i = 0; i < 50; ++i) world.script(client, {.duration = 1ms, .predicted = 1ms, .is_copy = true});
    world.script(client, {.duration = 1ms, .predicted = 1ms});
  }
  world.run_until(after(100ms));
  EXPECT_EQ(world.launches_of(0).size(), 51U) << "the kernel finds no debt";
  EXPECT_EQ(world.launches_of(1).size(), 51U);
}

/// What the rules of a case say of a client that may use half of the device, under an exact sensor of 100 ms.
struct PriceCase {
  Duration took, predicted;  // of a kernel at the start
  double gain;               // of the price
  Duration at, next;         // a kernel at that time, predicted so long; it takes 1 ms
  double credit_ms = 0.0;    // when that has ended and another one finds a debt
  double resolution = 0.0;   // of the sensor
  double sm_demand = 1.0;    // of all; tokens are SM time where it is not 1
  Duration begin{};          // of the first kernel
};

double credit_of(const PriceCase& its) {
  Parameters parameters = limits({{"a", 0.5}});
  parameters.set("sensor_resolution", its.resolution);
  parameters.set("sensor_period", Duration{100ms});
  parameters.set("price_gain", its.gain);
  if (its.sm_demand != 1.0) parameters.set("token", std::string("sm_time"));
  FakeBackend world(block_time_limiter_policy(), parameters, {fake_client("a")});
  world.join(0);
  const auto kernel = [&](Duration took, Duration predicted) {
    world.script(0, {.duration = took, .predicted = predicted, .sm_demand = its.sm_demand});
  };
  if (its.took > Duration{0}) world.at(after(its.begin), [&] { kernel(its.took, its.predicted); });
  world.at(after(its.at), [&] { kernel(1ms, its.next), kernel(1ms, 1ms); });
  world.run_until(after(its.at + 2ms));
  const Hold* hold = world.arbiter().hold_of(ClientId{0});
  return hold == nullptr ? 0.0 : hold->available / 1e6;
}

TEST(BlockTimeLimiter, SampleMovesThePriceOfPredictedTimeTowardsWhatItCost) {
  const PriceCase cases[] = {
      // 20 ms for 10: the sample takes 10 ms more, and half of the error goes into the price of the next 100 ms.
      {20ms, 10ms, 0.5, 110ms, 100ms, 55.5 - 20 - 150},
      {20ms, 10ms, 1.0, 110ms, 100ms, 55.5 - 20 - 200},
      {20ms, 10ms, 0.0, 110ms, 100ms, 55.5 - 20 - 100},
      // One that expected no more than a hundredth of its period says nothing of the price.
      {2ms, 1ms, 1.0, 110ms, 100ms, 55.5 - 2 - 100},
      {2'100us, 1'050us, 1.0, 110ms, 100ms, 55.5 - 2.1 - 200},
      // The price is a tenth to ten.
      {90ms, 2ms, 1.0, 190ms, 100ms, 95.5 - 90 - 1000},
      {1ms, 100ms, 1.0, 110ms, 1000ms, 55.5 - 1 - 100},
  };
  for (const PriceCase& its : cases) EXPECT_NEAR(credit_of(its), its.credit_ms, 1e-5) << its.credit_ms;
}

TEST(BlockTimeLimiter, SampleIsTheMiddleOfTheStepThatTheSensorShows) {
  const PriceCase used{.took = 20ms, .predicted = 20ms, .gain = 0.0, .at = 110ms, .next = 100ms, .resolution = 0.1};
  EXPECT_NEAR(credit_of(used), 55.5 - 25 - 100, 1e-5) << "20 to 30 ms of 100";
  PriceCase other = used;
  other.took = other.predicted = 29ms;
  EXPECT_NEAR(credit_of(other), 55.5 - 25 - 100, 1e-5);
  const PriceCase idle{.took = 0ms, .predicted = 0ms, .gain = 0.0, .at = 110ms, .next = 100ms, .resolution = 0.1};
  EXPECT_NEAR(credit_of(idle), 55.5 - 100, 1e-5) << "nothing is shown as nothing";
}

TEST(BlockTimeLimiter, KernelInFlightAtASampleStaysPredictedUntilTheNext) {
  const PriceCase early{.took = 60ms, .predicted = 60ms, .gain = 1.0, .at = 140ms, .next = 100ms, .begin = 70ms};
  EXPECT_NEAR(credit_of(early), 70.5 - 60 - 100, 1e-5);
  const PriceCase late{.took = 60ms, .predicted = 60ms, .gain = 1.0, .at = 210ms, .next = 100ms, .begin = 70ms};
  EXPECT_NEAR(credit_of(late), 105.5 - 60 - 100, 1e-5);
}

TEST(BlockTimeLimiter, SampleOfSmTimeCountsWithTheSmsThatTheKernelsFilled) {
  const PriceCase half{.took = 20ms, .predicted = 10ms, .gain = 1.0, .at = 110ms, .next = 100ms, .sm_demand = 0.5};
  EXPECT_NEAR(credit_of(half), 55.5 - 10 - 100, 1e-5);
}

/// How many of `count` kernels that ask together at `when` pass at once.
std::size_t passing(FakeBackend& world, Duration when, int count, Duration predicted) {
  world.set_depth(0, 100);
  world.set_most_waiting(0, 100);
  world.at(after(when), [&world, count, predicted] {
    for (int i = 0; i < count; ++i) world.script(0, {.duration = 1ms, .predicted = predicted});
  });
  world.run_until(after(when) + Duration{1});
  return world.launches_of(0).size();
}

TEST(BlockTimeLimiter, LaunchesOfOneInstantPassUntilTheyOverdrawTheCreditTogether) {
  FakeBackend world(block_time_limiter_policy(), limits({{"a", 0.5}}), {fake_client("a")});
  world.join(0);
  // 55 ms saved: the third finds that the two before it have spent just that.
  EXPECT_EQ(passing(world, 110ms, 5, Duration{27'500'000}), 3U);
  EXPECT_EQ(world.arbiter().hold_of(ClientId{0})->available, 55e6 - 82.5e6);
}

TEST(BlockTimeLimiter, ResizedClientKeepsWhatItSavedUnderItsOldLimit) {
  ClientView client = fake_client("a");
  client.requested_share = 0.1;
  FakeBackend world(block_time_limiter_policy(), limits({}), {client});
  world.join(0);
  world.at(after(100ms), [&] { world.arbiter().resize(ClientId{0}, 0.5, 0); });
  EXPECT_EQ(passing(world, 200ms, 5, 29ms), 3U) << "10 and 50 ms are saved: two launches leave 2 ms";
}

}  // namespace
}  // namespace corun

// Power and clock: what the limit does to programs alone and together, and what they take.
#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

/// 700 W, of which 100 W are idle; twice the clock is half the time and twice the energy.
DeviceSpec limited() {
  DeviceSpec spec;
  spec.time_slice = Duration{2 * kMs};
  spec.switch_cost = Duration{0};
  spec.power_limit_w = 700;
  spec.idle_power_w = 100;
  spec.full_clock_mhz = 2000;
  return spec;
}

/// All clients keep an operation of so many recorded nanoseconds in flight, for two seconds after a first one.
struct Busy {
  Busy(const DeviceSpec& spec, const std::vector<PowerDraw>& draws) : driver(spec) {
    for (const PowerDraw& draw : draws) driver.join({.power = draw});
    driver.on_completion = [this](const Completion& done) { driver.submit(done.client.value, kMs); };
    for (std::uint32_t client = 0; client < draws.size(); ++client) driver.submit(client, kMs);
    driver.run_to(1000 * kMs);
    warm = driver.device().usage();
    for (std::uint32_t client = 0; client < draws.size(); ++client) {
      warm_j.push_back(driver.device().energy_j(ClientId{client}));
      warm_ops.push_back(ended(client));
    }
    driver.run_to(3000 * kMs);
  }
  std::size_t ended(std::uint32_t client) const {
    return static_cast<std::size_t>(std::ranges::count(driver.completions(), ClientId{client}, &Completion::client));
  }
  double ops_per_s(std::uint32_t client) const { return static_cast<double>(ended(client) - warm_ops[client]) / 2; }
  double watts(std::uint32_t client) { return (driver.device().energy_j(ClientId{client}) - warm_j[client]) / 2; }
  double clock() { return to_seconds(driver.device().usage().clocked - warm.clocked) / 2; }

  DeviceDriver driver;
  DeviceUsage warm;
  std::vector<double> warm_j;
  std::vector<std::size_t> warm_ops;
};

TEST(Power, ADeviceWithoutALimitKnowsNoPower) {
  Busy alone(DeviceSpec{}, {{.watts = 900, .clock = 0.5}});
  EXPECT_EQ(alone.ops_per_s(0), 1000);
  EXPECT_EQ(alone.watts(0), 0);
  EXPECT_EQ(alone.clock(), 1);
}

TEST(Power, AProgramAloneHasTheClockAndTheTimesThatItWasRecordedWith) {
  Busy alone(limited(), {{.watts = 600, .clock = 0.8}});
  EXPECT_NEAR(alone.clock(), 0.8, 0.001);
  EXPECT_NEAR(alone.ops_per_s(0), 1000, 2);
  EXPECT_NEAR(alone.watts(0), 600, 2) << "the limit, less the idle power";
}

TEST(Power, BelowTheLimitTheClockIsTheFullOne) {
  Busy alone(limited(), {{.watts = 500, .clock = 1}});
  EXPECT_EQ(alone.clock(), 1);
  EXPECT_EQ(alone.ops_per_s(0), 1000);
  EXPECT_NEAR(alone.watts(0), 500, 1);
}

TEST(Power, NextToACoolProgramAHotOneIsFasterThanItWasRecorded) {
  Busy pair(limited(), {{.watts = 600, .clock = 0.8}, {.watts = 100, .clock = 1}});
  EXPECT_EQ(pair.clock(), 1);
  const double turns_per_s = 1e3 / (0.8 + 1);  // ms of each, where both would take 1 ms at their recorded clocks
  EXPECT_NEAR(pair.ops_per_s(0), turns_per_s, 1);
  EXPECT_NEAR(pair.ops_per_s(1), turns_per_s, 1);
  EXPECT_NEAR(pair.watts(0), turns_per_s * 0.8e-3 * 600 / 0.64, 1);
}

TEST(Power, TwoHotProgramsShareTheLimit) {
  Busy pair(limited(), {{.watts = 600, .clock = 0.8}, {.watts = 600, .clock = 0.6}});
  EXPECT_NEAR(pair.watts(0) + pair.watts(1), 600, 3);
  EXPECT_GT(pair.clock(), 0.6);
  EXPECT_LT(pair.clock(), 0.8);
}

TEST(Power, OfAProgramWhoseDrawIsNotKnownNothingIsCounted) {
  Busy alone(limited(), {{}});
  EXPECT_EQ(alone.watts(0), 0);
  EXPECT_EQ(alone.ops_per_s(0), 1000);
}

TEST(Power, CopiesDoNotFollowTheClockOfTheSms) {
  DeviceDriver driver(limited());
  driver.join({.power = {.watts = 600, .clock = 0.5}});
  driver.submit(0, kMs, 0, OpKind::kCopyDeviceToHost);
  driver.submit(0, kMs, 1, OpKind::kKernel);
  driver.drain();
  EXPECT_EQ(driver.completions()[0].end, time_from_ns(kMs / 2)) << "the kernel, at the full clock";
  EXPECT_EQ(driver.completions()[1].end, time_from_ns(kMs));
}

}  // namespace
}  // namespace corun

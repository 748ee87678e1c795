#include <gtest/gtest.h>

#include "tests/sim/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr std::uint64_t kGb = 1'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

DeviceSpec fifteen_gigabytes() {
  DeviceSpec spec;
  spec.memory_bytes = 15 * kGb;
  spec.handover_bandwidth_bytes_per_s = 5 * kGb;
  spec.thrash_bandwidth_bytes_per_s = 1 * kGb;
  spec.switch_cost = Duration{0};
  return spec;
}

TEST(Memory, WorkingSetsThatFitTogetherCostNothing) {
  DeviceDriver driver(fifteen_gigabytes());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 7 * kGb});
  driver.submit(0, 30 * kMs);
  const Ticket second = driver.submit(1, 30 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(second), 60 * kMs);
  EXPECT_EQ(driver.device().usage().paging, Duration{});
}

TEST(Memory, AnUndisturbedHandOverPagesInWhatTheOtherDisplaced) {
  DeviceDriver driver(fifteen_gigabytes());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  const Ticket second = driver.submit(1, kSecond);
  driver.run_to(10 * kSecond);
  const Ticket back = driver.submit(0, kSecond);
  driver.drain();
  // 10 + 10 - 15 GB are missing each time: one second at 5 GB/s.
  EXPECT_EQ(driver.begin(second), 3 * kSecond);
  EXPECT_EQ(driver.begin(back), 11 * kSecond);
  EXPECT_EQ(driver.device().usage().paging, Duration{2 * kSecond});
}

TEST(Memory, AClientThatTouchesItsSetSlowlyProgressesWhileItPages) {
  DeviceDriver driver(fifteen_gigabytes());
  driver.join({.working_set_bytes = 10 * kGb});
  driver.join({.working_set_bytes = 10 * kGb, .touch_period = Duration{2 * kSecond}});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  const Ticket second = driver.submit(1, 3 * kSecond);
  driver.drain();
  // It touches 5 GB per second of compute, paged at 5 GB/s: half speed for two seconds, until all 5 GB are in.
  EXPECT_EQ(driver.begin(second), 2 * kSecond);
  EXPECT_NEAR(to_seconds(Duration{driver.end(second)}), 6.0, 1e-3);
  EXPECT_NEAR(to_seconds(driver.device().usage().paging), 1.0, 1e-3);
}

// Compute that two always-busy clients get done in ten seconds.
double progress_while_thrashing(std::int64_t slice_ns) {
  DeviceSpec spec = fifteen_gigabytes();
  spec.time_slice = Duration{slice_ns};
  DeviceDriver driver(spec);
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb, .touch_period = Duration{kSecond}});
  driver.on_completion = [&](const Completion& done) { driver.submit(done.client.value, kMs); };
  for (std::uint32_t client : {0u, 1u, 0u, 1u}) driver.submit(client, kMs);
  driver.run_to(10 * kSecond);
  return static_cast<double>(driver.completions().size()) * 1e-3;
}

TEST(Memory, AlternatingContextsThrashAndTheSliceHardlyMatters) {
  // 10 GB touched per second of compute, paged at 1 GB/s: an eleventh of full speed.
  EXPECT_NEAR(progress_while_thrashing(200'000), 10.0 / 11, 0.02);
  EXPECT_NEAR(progress_while_thrashing(2 * kMs), 10.0 / 11, 0.02);
  EXPECT_NEAR(progress_while_thrashing(20 * kMs), 10.0 / 11, 0.02);
}

}  // namespace
}  // namespace corun

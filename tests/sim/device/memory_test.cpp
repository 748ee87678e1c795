#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

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

// Bytes that were placed long ago are the first to be displaced, also by their own client: all 10 GB of a client that
// returns come in, though only 5 GB of them had to leave.
TEST(Memory, AReturningClientPagesInItsWholeSetThroughItsOwnOldestBytes) {
  DeviceDriver driver(fifteen_gigabytes());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  const Ticket second = driver.submit(1, kSecond);
  driver.run_to(10 * kSecond);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 5 * kGb);
  const Ticket back = driver.submit(0, kSecond);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 3 * kSecond);  // 10 + 10 - 15 GB at 5 GB/s
  EXPECT_EQ(driver.begin(back), 12 * kSecond);   // 10 GB
  EXPECT_EQ(driver.device().usage().paging, Duration{3 * kSecond});
  EXPECT_EQ(driver.device().memory(ClientId{0}).paged_bytes, 10 * kGb);
  EXPECT_EQ(driver.device().memory(ClientId{1}).paged_bytes, 5 * kGb);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 10 * kGb);
  EXPECT_EQ(driver.device().memory(ClientId{1}).resident_bytes, 5 * kGb);
}

// It ran last, but what it placed is older than what came in since.
TEST(Memory, TheLeastRecentlyFaultedBytesLeaveHoweverRecentlyTheyWereUsed) {
  DeviceDriver driver(fifteen_gigabytes());
  for (const std::uint64_t gb : {5, 10, 5}) driver.join({.working_set_bytes = gb * kGb});
  for (const std::uint32_t client : {0U, 1U, 0U, 2U}) {
    driver.submit(client, kSecond);
    driver.run_to(to_ns(driver.now()) + 5 * kSecond);
  }
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 0U);
  EXPECT_EQ(driver.device().memory(ClientId{1}).resident_bytes, 10 * kGb);
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

// Seconds of compute that two always-busy clients get done from `from_ns` to `to_ns`, in kernels of 10 ms.
double progress_while_thrashing(std::int64_t slice_ns, const ContextSpec& context, const DeviceSpec& device,
                                std::int64_t from_ns, std::int64_t to_ns) {
  constexpr std::int64_t kKernel = 10 * kMs;
  DeviceSpec spec = device;
  spec.time_slice = Duration{slice_ns};
  DeviceDriver driver(spec);
  for (int i = 0; i < 2; ++i) driver.join(context);
  driver.on_completion = [&](const Completion& done) { driver.submit(done.client.value, kKernel); };
  for (const std::uint32_t client : {0U, 1U, 0U, 1U}) driver.submit(client, kKernel);
  driver.run_to(from_ns);
  const std::size_t before = driver.completions().size();
  driver.run_to(to_ns);
  return static_cast<double>(driver.completions().size() - before) * to_seconds(Duration{kKernel});
}

TEST(Memory, AlternatingContextsThrashAndTheSliceHardlyMatters) {
  // 10 GB touched per second of compute, paged at 1 GB/s: an eleventh of full speed.
  const ContextSpec context{.working_set_bytes = 10 * kGb, .touch_period = Duration{kSecond}};
  for (const std::int64_t slice : {kMs / 5, 2 * kMs, 20 * kMs})
    EXPECT_NEAR(progress_while_thrashing(slice, context, fifteen_gigabytes(), 0, 10 * kSecond), 10.0 / 11, 0.03);
}

// Two programs at 0.6 of the memory each, as measured with gpu_ext: slices of 200 us and 1 s, < 1 %. At first one set
// is in and runs at full speed until the other's faults have gone once through the memory: that is left out.
TEST(Memory, UnderThrashTheSliceDoesNotMatter) {
  DeviceSpec device = fifteen_gigabytes();
  device.memory_bytes = 8 * kGb;
  const ContextSpec context{.working_set_bytes = 4'800'000'000, .touch_period = Duration{250 * kMs}};
  const auto compute_s = [&](std::int64_t slice_ns) {
    return progress_while_thrashing(slice_ns, context, device, 25 * kSecond, 125 * kSecond);
  };
  const double short_slices = compute_s(kMs / 5), long_slices = compute_s(kSecond);
  EXPECT_NEAR(long_slices / short_slices, 1.0, 0.01) << short_slices << " s and " << long_slices << " s of compute";
  EXPECT_NEAR(short_slices, 100 / (1 + 19.2), 0.1);
}

TEST(Memory, ASliceSetForOneClientTellsTurnsFromLeasesToo) {
  DeviceDriver driver(fifteen_gigabytes());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.device().control(ClientId{0}, {.time_slice = Duration{kSecond}}, driver.now());
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  const Ticket second = driver.submit(1, kSecond);
  driver.drain();
  // The other ran one second ago, and its turns are that long: three seconds at 1 GB/s, then 2 GB at 5 GB/s.
  EXPECT_NEAR(to_seconds(Duration{driver.begin(second)}), 2 + 3 + 0.4, 0.01);
}

TEST(Memory, AClientThatNeedsItsWholeSetAtOnceProgressesOperationByOperation) {
  // Each kernel goes through its 10 GB at 1 GB/s, and the two share the bandwidth by turns.
  const ContextSpec context{.working_set_bytes = 10 * kGb};
  const double compute = progress_while_thrashing(2 * kMs, context, fifteen_gigabytes(), 0, 100 * kSecond);
  EXPECT_NEAR(compute / 10e-3, 10, 2);
}

TEST(Memory, RandomAccessMissesOnlyTheFractionThatIsNotIn) {
  const ContextSpec context{
      .access = Access::kRandom, .working_set_bytes = 10 * kGb, .touch_period = Duration{kSecond}};
  // Each holds 7.5 of its 10 GB: 2.5 GB are faulted per second of compute, at 1 GB/s.
  EXPECT_NEAR(progress_while_thrashing(2 * kMs, context, fifteen_gigabytes(), 20 * kSecond, 120 * kSecond), 100 / 3.5,
              1.0);
}

TEST(Memory, EachContextTakesItsOwnBytesOffTheMemory) {
  DeviceSpec device = fifteen_gigabytes();
  device.context_bytes = kGb / 2;
  DeviceDriver driver(device);
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 7'500'000'000});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  const Ticket second = driver.submit(1, kSecond);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 2'200'000'000);  // 1 GB at 5 GB/s
}

TEST(Memory, WhatAClientLeavesBehindIsFree) {
  DeviceDriver driver(fifteen_gigabytes());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  driver.device().leave(ClientId{0}, driver.now());
  const Ticket second = driver.submit(1, kSecond);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 2 * kSecond);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 0U);
}

DeviceSpec p100() {
  DeviceSpec spec;
  spec.memory_bytes = 16'640'000'000;
  spec.handover_bandwidth_bytes_per_s = 6 * kGb;
  spec.to_device_bytes_per_s = 9'100'000'000;
  spec.from_device_bytes_per_s = 11 * kGb;
  spec.switch_cost = Duration{0};
  return spec;
}

constexpr std::uint64_t kBig = 15'300'000'000;

// Seconds from the second client's turn to its kernel's begin.
double handover_s(bool with_prefetch) {
  DeviceDriver driver(p100());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = kBig});
  for (const std::uint32_t client : {0U, 1U})
    driver.submit(client, kSecond), driver.run_to(20 * (client + 1) * kSecond);
  if (with_prefetch) driver.device().prefetch(ClientId{0}, driver.now());
  const Ticket back = driver.submit(0, kSecond);
  driver.drain();
  return to_seconds(Duration{driver.begin(back) - 40 * kSecond});
}

TEST(Memory, AHandOverOf15GbCostsWhatNvshareMeasuredAndAThirdLessWithAPrefetch) {
  EXPECT_NEAR(handover_s(false), 2.55, 0.005);
  EXPECT_NEAR(handover_s(true), 15.3 / 9.1, 0.005);
}

TEST(Memory, APrefetchLoadsInTheBackgroundWithoutFaults) {
  DeviceDriver driver(p100());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = kBig});
  driver.submit(0, kSecond);
  driver.run_to(2 * kSecond);
  driver.submit(1, kSecond);
  driver.run_to(20 * kSecond);
  const std::uint64_t faulted = driver.device().memory(ClientId{0}).paged_bytes;
  driver.device().prefetch(ClientId{0}, driver.now());
  driver.run_to(22 * kSecond);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, kBig);
  EXPECT_EQ(driver.device().memory(ClientId{0}).paged_bytes, faulted);
  const Ticket back = driver.submit(0, kSecond);
  driver.drain();
  EXPECT_EQ(driver.begin(back), 22 * kSecond);
}

// The last bytes of a load may push out the set's own oldest. Once that began a load of seven bytes every nanosecond.
TEST(Memory, ALoadThatPushesOutItsOwnOldestBytesEndsAllTheSame) {
  DeviceSpec spec = fifteen_gigabytes();
  spec.to_device_bytes_per_s = spec.from_device_bytes_per_s = 50 * kGb;
  DeviceDriver driver(spec);
  driver.join({.working_set_bytes = 8 * kGb, .touch_period = Duration{8 * kMs}});
  driver.join({.working_set_bytes = 7 * kGb + 7, .touch_period = Duration{8 * kMs}});
  for (const std::uint32_t client : {0U, 1U}) {
    driver.submit(client, kMs);
    driver.run_to(to_ns(driver.now()) + 10 * kMs);
  }
  driver.device().prefetch(ClientId{1}, driver.now());
  driver.run_to(to_ns(driver.now()) + 10 * kMs);
  ASSERT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 8 * kGb - 7);
  std::uint64_t changes = 0;
  driver.on_change = [&] { ++changes; };
  driver.device().prefetch(ClientId{0}, driver.now());
  driver.submit(0, 10 * kMs);
  driver.run_to(to_ns(driver.now()) + 20 * kMs);
  EXPECT_LT(changes, 1'000u);
}

}  // namespace
}  // namespace corun

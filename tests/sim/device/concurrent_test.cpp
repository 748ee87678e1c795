#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

// Ten SMs that hold one block each: a grid of n blocks fills n tenths.
DeviceSpec ten_sms(SpatialRule rule = SpatialRule::kDispatchOrder) {
  DeviceSpec spec;
  spec.sm_count = 10;
  spec.max_threads_per_sm = 1024;
  spec.sharing = Sharing::kConcurrent;
  spec.spatial_rule = rule;
  return spec;
}

Ticket kernel(DeviceDriver& driver, std::uint32_t client, std::uint32_t blocks, std::int64_t duration_ns,
              std::int64_t gap_ns = 0) {
  return driver.submit({.client = ClientId{client},
                        .duration = Duration{duration_ns},
                        .dispatch_gap = Duration{gap_ns},
                        .ready_at = driver.now(),
                        .shape = {blocks, 1, 1, 1024, 1, 1, 32, 0}});
}

// Shares are multiples of 2^-20 of the device.
constexpr double kRounding = 40;

TEST(Concurrent, TwoKernelsThatEachFillTheDeviceRunOneAfterTheOther) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first = kernel(driver, 0, 10, 10 * kMs);
  const Ticket second = kernel(driver, 1, 10, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
  EXPECT_EQ(driver.begin(second), 10 * kMs);
  EXPECT_EQ(driver.end(second), 20 * kMs);
}

TEST(Concurrent, TwoKernelsOfHalfTheDeviceRunTogetherAtFullSpeed) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first = kernel(driver, 0, 5, 10 * kMs);
  const Ticket second = kernel(driver, 1, 5, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
  EXPECT_EQ(driver.end(second), 10 * kMs);
  EXPECT_EQ(driver.device().usage().busy, Duration{10 * kMs});
}

TEST(Concurrent, TheLaterKernelGetsTheLeftoverAndGrowsWhenTheEarlierEnds) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first = kernel(driver, 0, 6, 10 * kMs);
  const Ticket second = kernel(driver, 1, 6, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
  EXPECT_EQ(driver.begin(second), 0);
  // 4 of the 6 tenths it wants for 10 ms make 2/3 of it; the last third runs at full speed.
  EXPECT_NEAR(static_cast<double>(driver.end(second)), 13.0e6 + 1e6 / 3, kRounding);
}

TEST(Concurrent, BlocksOfTheLaterKernelFollowTheLastOnesOfTheEarlier) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first =
      kernel(driver, 0, 20, 20 * kMs);  // a block takes 10 ms: 6.5 ms before the end all are dispatched
  const Ticket second = kernel(driver, 1, 5, 4 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 13'500'000);
  // An eighth of the room, three eighths and then more than its half come free, 1.625 ms after one another.
  EXPECT_NEAR(static_cast<double>(driver.end(second)), 16.75e6 + 4e6 - 1.625e6 * (0.25 + 0.75), kRounding);
  EXPECT_EQ(driver.end(first), 20 * kMs);
}

TEST(Concurrent, WhatAnEarlierKernelsLastWaveDoesNotFillIsFreeAtOnce) {
  for (const std::uint32_t blocks : {15u, 25u}) {
    DeviceDriver driver(ten_sms(), 2);
    const std::int64_t duration = blocks * kMs;
    const Ticket first = kernel(driver, 0, blocks, duration);
    const Ticket second = kernel(driver, 1, 5, 4 * kMs);
    driver.drain();
    EXPECT_EQ(driver.begin(second), duration - 6'500'000);
    EXPECT_NEAR(static_cast<double>(driver.end(second)), static_cast<double>(duration) - 2.5e6, kRounding);
    EXPECT_EQ(driver.end(first), duration);
  }
}

TEST(Concurrent, AKernelOfUnknownShapeFillsTheDevice) {
  DeviceDriver driver(ten_sms(), 2);
  driver.submit(0, 10 * kMs);
  const Ticket second = kernel(driver, 1, 1, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 10 * kMs);
}

TEST(Concurrent, ADispatchGapTakesTimeButNoSms) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket late = kernel(driver, 0, 10, 10 * kMs, 3 * kMs);
  const Ticket early = kernel(driver, 1, 10, 5 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(early), 5 * kMs);
  EXPECT_EQ(driver.begin(late), 5 * kMs);
  EXPECT_EQ(driver.end(late), 15 * kMs);
}

TEST(Concurrent, AnSmCapBoundsAClientsKernelsTogether) {
  DeviceDriver driver(ten_sms());
  driver.join({.sm_cap = 0.5});
  driver.join({});
  const Ticket capped = kernel(driver, 0, 10, 10 * kMs);
  const Ticket beside = kernel(driver, 1, 5, 20 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(capped), 20 * kMs);
  EXPECT_EQ(driver.end(beside), 20 * kMs);
}

TEST(Concurrent, TwoKernelsOfACappedClientDivideItsCap) {
  DeviceDriver driver(ten_sms());
  driver.join({.sm_cap = 0.5});
  const Ticket first = kernel(driver, 0, 5, 10 * kMs);
  const Ticket second = driver.submit({.client = ClientId{0},
                                       .stream = StreamId{1},
                                       .duration = Duration{10 * kMs},
                                       .shape = {5, 1, 1, 1024, 1, 1, 32, 0}});
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
  EXPECT_EQ(driver.begin(second), 10 * kMs);
}

TEST(Concurrent, ACapTurnsWavesIntoMoreOfThemWhateverSeveralKernelsWouldGet) {
  DeviceSpec spec = ten_sms();
  spec.sm_rate_exponent = 0.5;
  DeviceDriver driver(spec);
  driver.join({.sm_cap = 0.5});
  const Ticket capped = kernel(driver, 0, 30, 30 * kMs);  // three waves become six
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(capped)), 60e6, kRounding);
}

TEST(Concurrent, AKernelOfFewBlocksDoesNotNoticeACap) {
  DeviceSpec spec = ten_sms();
  spec.max_threads_per_sm = 4096;  // four blocks each
  spec.sm_rate_exponent = spec.sm_fill_exponent = 0.25;
  for (const std::uint32_t blocks : {1, 3, 5}) {
    DeviceDriver driver(spec);
    driver.join({.sm_cap = 0.5});
    const Ticket capped = kernel(driver, 0, blocks, 10 * kMs);
    driver.drain();
    EXPECT_EQ(driver.end(capped), 10 * kMs) << blocks;
  }
}

TEST(Concurrent, UnderACapBlocksLieCloserTogetherAndAreSlowerByTheFillExponent) {
  DeviceSpec spec = ten_sms();
  spec.max_threads_per_sm = 4096;
  spec.sm_fill_exponent = 0.25;
  DeviceDriver driver(spec);
  driver.join({.sm_cap = 0.5});
  const Ticket capped = kernel(driver, 0, 10, 10 * kMs);  // one on an SM alone, two on each of five
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(capped)), 10e6 * std::pow(2.0, 0.75), kRounding);
}

TEST(Concurrent, ThePartOfAKernelThatNeedsNoSmsIsAsLongUnderACap) {
  DeviceSpec spec = ten_sms();
  spec.kernel_overhead = Duration{2 * kMs};
  DeviceDriver driver(spec);
  driver.join({.sm_cap = 0.25});
  const Ticket capped = kernel(driver, 0, 100, 10 * kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(capped)), 2e6 + 4 * 8e6, 400);
}

TEST(Concurrent, AKernelMeasuredWithFewerSmsHasThoseTimesUnderACap) {
  const SmCurve streaming({{0.5, 1.0}, {0.25, 1.6}});
  for (const auto& [cap, factor] : {std::pair{0.5, 1.0}, {0.25, 1.6}, {0.125, 3.2}}) {
    DeviceDriver driver(ten_sms());
    driver.join({.sm_cap = cap});
    const Ticket capped = driver.submit({.client = ClientId{0},
                                         .duration = Duration{10 * kMs},
                                         .shape = {100, 1, 1, 1024, 1, 1, 32, 0},
                                         .sm_curve = &streaming});
    driver.drain();
    EXPECT_NEAR(static_cast<double>(driver.end(capped)), 10e6 * factor, 400) << cap;
  }
}

TEST(Concurrent, MaxMinGivesASmallKernelAllItWantsAndTheLargeOneTheRest) {
  DeviceDriver driver(ten_sms(SpatialRule::kMaxMin), 2);
  const Ticket large = kernel(driver, 0, 10, 10 * kMs);
  const Ticket small = kernel(driver, 1, 2, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(small), 10 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(large)), 12e6, kRounding);
}

TEST(Concurrent, MaxMinHalvesTheDeviceBetweenTwoThatWantAllOfIt) {
  DeviceDriver driver(ten_sms(SpatialRule::kMaxMin), 2);
  const Ticket first = kernel(driver, 0, 10, 10 * kMs);
  const Ticket second = kernel(driver, 1, 10, 10 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(first), 20 * kMs);
  EXPECT_EQ(driver.end(second), 20 * kMs);
}

Ticket memory_op(DeviceDriver& driver, OpKind kind, std::uint64_t bytes) {
  return driver.submit(DeviceOp{.client = ClientId{1}, .kind = kind, .duration = Duration{1 * kMs}, .bytes = bytes});
}

TEST(Concurrent, AMemsetOf4KiBWaitsForNobody) {
  for (const SpatialRule rule : {SpatialRule::kDispatchOrder, SpatialRule::kMaxMin}) {
    DeviceDriver driver(ten_sms(rule), 2);
    const Ticket all = kernel(driver, 0, 10, 10 * kMs);
    const Ticket memset = memory_op(driver, OpKind::kMemset, 4096);
    driver.drain();
    EXPECT_EQ(driver.end(memset), 1 * kMs);
    EXPECT_EQ(driver.end(all), 10 * kMs);
  }
}

TEST(Concurrent, ALargerMemsetAndAnyCopyInsideTheDeviceWaitForRoom) {
  for (const auto& [kind, bytes] : {std::pair{OpKind::kMemset, 4097u}, {OpKind::kCopyDeviceToDevice, 1u}}) {
    DeviceDriver driver(ten_sms(), 2);
    kernel(driver, 0, 10, 10 * kMs);
    const Ticket op = memory_op(driver, kind, bytes);
    driver.drain();
    EXPECT_EQ(driver.end(op), 11 * kMs);
  }
}

TEST(Concurrent, ALargeCopyInsideTheDeviceHoldsAllOfIt) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket copy = driver.submit(DeviceOp{
      .client = ClientId{0}, .kind = OpKind::kCopyDeviceToDevice, .duration = Duration{1 * kMs}, .bytes = 1 << 30});
  const Ticket after = kernel(driver, 1, 10, 1 * kMs);
  driver.drain();
  EXPECT_EQ(driver.end(copy), 1 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(after)), 2e6, 1e4);
}

}  // namespace
}  // namespace corun

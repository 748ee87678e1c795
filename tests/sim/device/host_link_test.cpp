#include "sim/device/model/host_link.h"

#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr std::uint64_t kGb = 1'000'000'000;

/// 10 GB/s to the device and 5 GB/s back, two copy engines in each direction.
DeviceSpec linked() {
  DeviceSpec spec;
  spec.to_device_bytes_per_s = 10 * kGb;
  spec.from_device_bytes_per_s = 5 * kGb;
  spec.copy_engines_per_direction = 2;
  spec.switch_cost = Duration{0};
  return spec;
}

Ticket copy(DeviceDriver& driver, std::uint32_t client, std::int64_t ms, std::uint64_t bytes,
            OpKind kind = OpKind::kCopyHostToDevice) {
  return driver.submit({.client = ClientId{client},
                        .kind = kind,
                        .duration = Duration{ms * kMs},
                        .ready_at = driver.now(),
                        .bytes = bytes});
}

TEST(HostLink, TwoCopiesThatTogetherExceedTheLinkGetHalfEach) {
  DeviceDriver driver(linked(), 2);
  const Ticket first = copy(driver, 0, 10, kGb / 10);
  driver.run_to(5 * kMs);
  const Ticket second = copy(driver, 1, 10, kGb / 10);
  driver.drain();
  EXPECT_EQ(driver.end(first), 15 * kMs);   // 5 ms alone, then half speed
  EXPECT_EQ(driver.end(second), 20 * kMs);  // half speed for 10 ms, then alone
}

TEST(HostLink, ASlowCopyKeepsItsSpeedAndTheOtherGetsTheRest) {
  DeviceDriver driver(linked(), 2);
  const Ticket pageable = copy(driver, 0, 100, kGb / 5);  // 2 GB/s
  const Ticket pinned = copy(driver, 1, 10, kGb / 10);    // 10 GB/s of which 8 are left
  driver.drain();
  EXPECT_EQ(driver.end(pageable), 100 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(pinned)), 12.5 * kMs, 20);
}

TEST(HostLink, DirectionsDoNotShare) {
  DeviceDriver driver(linked(), 2);
  const Ticket up = copy(driver, 0, 10, kGb / 10);
  const Ticket down = copy(driver, 1, 10, kGb / 20, OpKind::kCopyDeviceToHost);
  driver.drain();
  EXPECT_EQ(driver.end(up), 10 * kMs);
  EXPECT_EQ(driver.end(down), 10 * kMs);
}

TEST(HostLink, ACopyAloneTakesItsRecordedTimeEvenWhereTheLinkIsSaidToBeSlower) {
  DeviceDriver driver(linked(), 1);
  const Ticket fast = copy(driver, 0, 10, kGb);
  driver.drain();
  EXPECT_EQ(driver.end(fast), 10 * kMs);
}

TEST(HostLink, CopiesOfUnknownSizeAndDevicesOfUnknownLinkKeepRecordedTimes) {
  DeviceSpec unknown = linked();
  unknown.to_device_bytes_per_s = 0;
  for (const auto& [spec, bytes] : {std::pair(unknown, kGb), std::pair(linked(), std::uint64_t{0})}) {
    DeviceDriver driver(spec, 2);
    const Ticket first = copy(driver, 0, 10, bytes), second = copy(driver, 1, 10, bytes);
    driver.drain();
    EXPECT_EQ(driver.end(first), 10 * kMs);
    EXPECT_EQ(driver.end(second), 10 * kMs);
  }
}

TEST(HostLink, ACopyThatWasRecordedAbsurdlyFastIsNoFasterThanTheLink) {
  DeviceDriver driver(linked(), 2);
  const Ticket absurd = driver.submit({.client = ClientId{0},
                                       .kind = OpKind::kCopyHostToDevice,
                                       .duration = Duration{1},
                                       .ready_at = driver.now(),
                                       .bytes = 100 * kGb});
  const Ticket usual = copy(driver, 1, 10, kGb / 10);
  driver.drain();
  EXPECT_EQ(driver.end(absurd), 2);
  EXPECT_NEAR(static_cast<double>(driver.end(usual)), 10 * kMs, 2);
}

TEST(HostLink, OneEngineServesCopiesOneAfterAnotherAtFullSpeed) {
  DeviceSpec spec = linked();
  spec.copy_engines_per_direction = 1;
  DeviceDriver driver(spec, 2);
  const Ticket first = copy(driver, 0, 10, kGb / 10), second = copy(driver, 1, 10, kGb / 10);
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
  EXPECT_EQ(driver.end(second), 20 * kMs);
}

/// Two clients of 10 GB each on 15 GB; the first has run and left 5 GB to the second, which is about to run.
DeviceSpec paging() {
  DeviceSpec spec = linked();
  spec.memory_bytes = 15 * kGb;
  spec.handover_bandwidth_bytes_per_s = 5 * kGb;
  spec.from_device_bytes_per_s = 20 * kGb;
  return spec;
}

TEST(HostLink, PagingAndACopyShareTheLink) {
  DeviceDriver driver(paging());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kMs);
  driver.run_to(2000 * kMs);
  const Ticket kernel = driver.submit(1, kMs, 1);
  const Ticket copied = copy(driver, 0, 600, 6 * kGb);
  driver.drain();
  // 5 GB/s each: the copy, which asks for all of the link, is halved for the second in which 5 GB come in.
  EXPECT_NEAR(static_cast<double>(driver.begin(kernel)), 3000.0 * kMs, 20);
  EXPECT_NEAR(static_cast<double>(driver.end(copied)), 3100.0 * kMs, 20);
}

TEST(HostLink, WhatLeavesMemorySlowsPagingDownWhereTheWayOutIsNarrow) {
  DeviceSpec spec = paging();
  spec.from_device_bytes_per_s = 2 * kGb;
  DeviceDriver driver(spec);
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kMs);
  driver.run_to(2000 * kMs);
  const Ticket kernel = driver.submit(1, kMs);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.begin(kernel)), 4500.0 * kMs, 20);
}

TEST(HostLink, APrefetchTakesItsPartOfTheLink) {
  DeviceDriver driver(paging());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kMs);
  driver.run_to(2000 * kMs);
  driver.submit(1, kMs);
  driver.run_to(10'000 * kMs);
  driver.device().prefetch(ClientId{0}, driver.now());  // 10 GB at 10 GB/s, its own old half first
  const Ticket copied = copy(driver, 1, 500, 5 * kGb);
  driver.run_to(20'000 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(copied)), 11'000.0 * kMs, 20);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 10 * kGb);
}

TEST(HostLink, IsFreeForACopyAsSoonAsTheClientThatIsBroughtInLeaves) {
  DeviceDriver driver(paging());
  for (int i = 0; i < 2; ++i) driver.join({.working_set_bytes = 10 * kGb});
  driver.submit(0, kMs);
  driver.run_to(2000 * kMs);
  driver.submit(1, kMs);
  driver.run_to(10'000 * kMs);
  driver.device().prefetch(ClientId{0}, driver.now());
  const Ticket copied = copy(driver, 1, 500, 5 * kGb);
  driver.run_to(10'500 * kMs);
  driver.device().leave(ClientId{0}, driver.now());
  driver.drain();
  // Half of the link for half a second, then all of it.
  EXPECT_NEAR(static_cast<double>(driver.end(copied)), 10'750.0 * kMs, 20);
}

}  // namespace
}  // namespace corun

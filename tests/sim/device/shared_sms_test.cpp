// Kernels that lie on the same SMs: one that fills a part of each, and one that has more blocks than room. All shapes
// are of ten SMs. Source of the rule: studies/shared-sms.

#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr double kRounding = 100;  // shares are multiples of 2^-20 of the device

DeviceSpec ten_sms() {
  DeviceSpec spec;
  spec.sm_count = 10;
  spec.sharing = Sharing::kConcurrent;
  spec.sm_fill_exponent = 0.5;
  spec.sm_rate_exponent = 0.5;
  return spec;
}

/// One block on each SM, where four have room: a quarter of the room, and half of the throughput.
DeviceOp thin(std::uint32_t client, std::int64_t duration_ns) {
  return {.client = ClientId{client}, .duration = Duration{duration_ns}, .shape = {10, 1, 1, 512, 1, 1, 32, 0}};
}

/// Twenty waves.
DeviceOp filling(std::uint32_t client, std::int64_t duration_ns) {
  return {.client = ClientId{client}, .duration = Duration{duration_ns}, .shape = {1600, 1, 1, 256, 1, 1, 32, 0}};
}

// What comes later has three quarters of the room and of the throughput, and so leaves the first one a quarter: half of
// its speed. Without the rule it would have the half that the first one leaves.
TEST(SharedSms, AKernelThatFillsAPartOfEachSmLeavesOthersTheirRoom) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first = driver.submit(thin(0, 10 * kMs));
  const Ticket later = driver.submit(filling(1, 100 * kMs));
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(first)), 20.0 * kMs, kRounding);
  EXPECT_NEAR(static_cast<double>(driver.end(later)), (100.0 + 0.25 * 20.0) * kMs, kRounding);
}

// Captured with fewer SMs, the second one kept its whole speed; with a part of its blocks it asks for sqrt(3/4).
TEST(SharedSms, AKernelThatKeepsItsSpeedOnFewerSmsHasWhatItAsksFor) {
  const SmCurve streaming({{0.5, 1.0}, {0.25, 1.0}});
  DeviceDriver driver(ten_sms(), 2);
  driver.submit(thin(0, 10 * kMs));
  DeviceOp stream = filling(1, 100 * kMs);
  stream.sm_curve = &streaming;
  const Ticket later = driver.submit(stream);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(later)), (100.0 + (1.0 - 0.8660254) * 20.0) * kMs, 2 * kRounding);
}

TEST(SharedSms, AClientsOwnKernelsTakeNothingFromEachOtherTwice) {
  DeviceDriver driver(ten_sms(), 1);
  const Ticket first = driver.submit(thin(0, 10 * kMs));
  DeviceOp other_stream = filling(0, 100 * kMs);
  other_stream.stream = StreamId{1};
  driver.submit(other_stream);
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
}

TEST(SharedSms, KernelsOfOneWaveKeepTheOrderOfDispatch) {
  DeviceDriver driver(ten_sms(), 2);
  const Ticket first = driver.submit(thin(0, 10 * kMs));
  driver.submit(thin(1, 10 * kMs));
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
}

// With half of the SMs each, one asks for a half of the whole and one, that streams, for all of it: they have it in
// proportion.
TEST(SharedSms, CapsThatLeaveRoomForBothKeepClientsApart) {
  const SmCurve streaming({{0.5, 1.0}, {0.25, 1.0}});
  DeviceDriver driver(ten_sms(), 2);
  for (const std::uint32_t client : {0U, 1U}) driver.device().control(ClientId{client}, {.sm_cap = 0.5}, driver.now());
  DeviceOp first = thin(0, 10 * kMs), stream = filling(1, 100 * kMs);
  first.sm_curve = stream.sm_curve = &streaming;
  const Ticket apart = driver.submit(first);
  driver.submit(stream);
  driver.drain();
  EXPECT_NEAR(static_cast<double>(driver.end(apart)), 15.0 * kMs, kRounding);
}

// Blocks on six of the ten SMs: the others are free for the second one.
TEST(SharedSms, AKernelOnSomeSmsKeepsItsSpeed) {
  DeviceDriver driver(ten_sms(), 2);
  DeviceOp few = thin(0, 10 * kMs);
  few.shape = {6, 1, 1, 512, 1, 1, 32, 0};
  const Ticket first = driver.submit(few);
  driver.submit(filling(1, 100 * kMs));
  driver.drain();
  EXPECT_EQ(driver.end(first), 10 * kMs);
}

}  // namespace
}  // namespace corun

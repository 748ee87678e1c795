// Where blocks lie: SMs that others fill, carve-outs, and SMs of one's own. All shapes are of ten SMs.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr double kRounding = 100;  // shares are multiples of 2^-20 of the device

DeviceSpec ten_sms(CarveoutChange change = CarveoutChange::kWhenIdle) {
  DeviceSpec spec;
  spec.sm_count = 10;
  spec.sharing = Sharing::kConcurrent;
  spec.carveout_change = change;
  spec.sm_fill_exponent = 0.5;
  return spec;
}

/// Two blocks an SM without shared memory: 2 KiB are needed, no more than 8 are left.
DeviceOp plain(std::uint32_t client, std::int64_t duration_ns, std::uint32_t blocks = 10) {
  return {.client = ClientId{client}, .duration = Duration{duration_ns}, .shape = {blocks, 1, 1, 1024, 1, 1, 32, 0}};
}

/// Eight blocks an SM, which need 42 KiB.
DeviceOp sharing(std::uint32_t client, std::int64_t duration_ns, std::uint32_t blocks = 10) {
  return {.client = ClientId{client}, .duration = Duration{duration_ns}, .shape = {blocks, 1, 1, 256, 1, 1, 32, 4356}};
}

Ticket submit(DeviceDriver& driver, DeviceOp op) {
  op.ready_at = driver.now();
  return driver.submit(op);
}

TEST(Placement, BlocksThatNeedALargerCarveOutWaitForIdleSms) {
  for (const CarveoutChange change : {CarveoutChange::kAnyTime, CarveoutChange::kWhenIdle}) {
    DeviceDriver driver(ten_sms(change), 2);
    const Ticket first = submit(driver, plain(0, 10 * kMs));
    const Ticket second = submit(driver, sharing(1, 1 * kMs));
    driver.drain();
    EXPECT_EQ(driver.begin(second), change == CarveoutChange::kWhenIdle ? 10 * kMs : 0);
    EXPECT_EQ(driver.end(first), 10 * kMs);
  }
}

TEST(Placement, BlocksThatNeedASmallerCarveOutBeginAtOnce) {
  DeviceDriver driver(ten_sms(), 2);
  submit(driver, sharing(0, 10 * kMs));
  const Ticket second = submit(driver, plain(1, 1 * kMs));
  driver.drain();
  EXPECT_EQ(driver.begin(second), 0);
}

TEST(Placement, AClientsOwnKernelsAreNotInItsWay) {
  DeviceDriver driver(ten_sms(), 1);
  submit(driver, plain(0, 10 * kMs));
  DeviceOp other_stream = sharing(0, 1 * kMs);
  other_stream.stream = StreamId{1};
  const Ticket second = submit(driver, other_stream);
  driver.drain();
  EXPECT_EQ(driver.begin(second), 0);
}

// Five SMs had the large carve-out when the plain kernel began; ten blocks then lie there two by two, where an SM goes
// at sqrt(2/8) of its speed instead of sqrt(1/8): each block at 1/sqrt(2).
TEST(Placement, BlocksLieCloserOnTheSmsThatKeptALargeCarveOut) {
  DeviceDriver driver(ten_sms(), 2);
  submit(driver, sharing(1, 10 * kMs, 5));
  const Ticket beside = submit(driver, plain(0, 40 * kMs));
  driver.run_to(10 * kMs);
  const Ticket closer = submit(driver, sharing(1, 4 * kMs, 10));
  driver.drain();
  EXPECT_EQ(driver.begin(closer), 10 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(closer)), (10 + 4 * std::sqrt(2.0)) * kMs, kRounding);
  EXPECT_NEAR(static_cast<double>(driver.end(beside)), 40.0 * kMs, kRounding);
}

// Twenty blocks, two an SM when alone, lie eight at a time on one: half as fast, two and a half times one after the
// other.
TEST(Placement, MoreBlocksThanFitFollowOneAnother) {
  DeviceDriver driver(ten_sms(), 2);
  submit(driver, sharing(1, 10 * kMs, 1));
  submit(driver, plain(0, 40 * kMs));
  driver.run_to(10 * kMs);
  const Ticket many = submit(driver, sharing(1, 4 * kMs, 20));
  driver.drain();
  EXPECT_EQ(driver.begin(many), 10 * kMs);
  EXPECT_NEAR(static_cast<double>(driver.end(many)), (10 + 4 * 2 * 2.5) * kMs, 400);
}

// Eight of ten SMs are full with one block each. Four blocks, one an SM when alone, lie two by two on the other two
// SMs.
TEST(Placement, BlocksLieCloserOnTheSmsThatALargeKernelLeaves) {
  DeviceSpec spec = ten_sms(CarveoutChange::kAnyTime);
  spec.max_threads_per_sm = 1024;
  DeviceDriver driver(spec, 2);
  submit(driver, plain(0, 40 * kMs, 8));
  const Ticket closer = submit(driver, sharing(1, 4 * kMs, 4));
  driver.drain();
  EXPECT_EQ(driver.begin(closer), 0);
  EXPECT_NEAR(static_cast<double>(driver.end(closer)), 4 * std::sqrt(2.0) * kMs, kRounding);
}

// Forty small blocks leave half of each SM, where others find room as if alone.
TEST(Placement, BlocksLieAsAloneBesideOnesThatFillNoSm) {
  DeviceSpec spec = ten_sms(CarveoutChange::kAnyTime);
  spec.sm_fill_exponent = 1.0;
  DeviceDriver driver(spec, 2);
  submit(driver, sharing(0, 40 * kMs, 40));
  const Ticket beside = submit(driver, sharing(1, 4 * kMs, 10));
  driver.drain();
  EXPECT_EQ(driver.begin(beside), 0);
  EXPECT_NEAR(static_cast<double>(driver.end(beside)), 4.0 * kMs, kRounding);
}

TEST(Placement, PrioritiesDoNotChangeCarveOuts) {
  DeviceDriver driver(ten_sms(), 2);
  driver.device().control(ClientId{1}, {.priority = 5}, driver.now());
  submit(driver, plain(0, 10 * kMs));
  driver.run_to(1 * kMs);
  const Ticket urgent = submit(driver, sharing(1, 1 * kMs));
  driver.drain();
  EXPECT_EQ(driver.begin(urgent), 10 * kMs);
}

// Nine SMs draw sqrt(0.9) of the throughput; the tenth has a tenth of it all the same, and everyone pays for the
// excess.
TEST(Placement, AnSmOfItsOwnIsWorthWhatItIs) {
  DeviceSpec spec = ten_sms();
  spec.max_threads_per_sm = 1024;
  spec.sm_rate_exponent = 0.5;
  DeviceDriver driver(spec, 2);
  const Ticket nine = submit(driver, plain(0, 10 * kMs, 9));
  const Ticket one = submit(driver, plain(1, 2 * kMs, 1));
  driver.drain();
  const double together = std::sqrt(0.9) + 0.1;
  EXPECT_NEAR(static_cast<double>(driver.end(one)), 2 * kMs * together * std::sqrt(0.1) / 0.1, kRounding);
  const double slow = static_cast<double>(driver.end(one));
  EXPECT_NEAR(static_cast<double>(driver.end(nine)), slow + 10 * kMs - slow / together, kRounding);
}

}  // namespace
}  // namespace corun

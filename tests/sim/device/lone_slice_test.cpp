#include <gtest/gtest.h>

#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;
using testing::kUs;

constexpr std::int64_t kSlice = 2'000'000;
constexpr std::int64_t kSwitch = 175'000;

DeviceSpec device(LoneSlice lone_slice) {
  DeviceSpec spec;
  spec.time_slice = Duration{kSlice};
  spec.switch_cost = Duration{kSwitch};
  spec.lone_slice = lone_slice;
  return spec;
}

/// When a kernel begins that is submitted at `woken_ns` while another has run since 0.
std::int64_t begin_of_woken(LoneSlice lone_slice, std::int64_t woken_ns) {
  DeviceDriver driver(device(lone_slice), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(woken_ns);
  const Ticket woken = driver.submit(1, 20 * kUs);
  driver.drain();
  return driver.begin(woken);
}

TEST(LoneSlice, LessThanASliceOldItEndsBeforeTheWokenOneBeginsUnderBothRules) {
  for (const LoneSlice rule : {LoneSlice::kRolls, LoneSlice::kUsedUp})
    for (const std::int64_t woken : {1 * kUs, 700 * kUs, kSlice - 1, kSlice})
      EXPECT_EQ(begin_of_woken(rule, woken), kSlice + kSwitch) << "woken at " << woken;
}

TEST(LoneSlice, OnceUsedUpTheWokenOneBeginsAfterASwitchAtAllPhases) {
  for (std::int64_t woken = kSlice + 1; woken < 4 * kSlice; woken += 333 * kUs)
    EXPECT_EQ(begin_of_woken(LoneSlice::kUsedUp, woken), woken + kSwitch);
}

TEST(LoneSlice, WhereItRollsTheWokenOneWaitsForTheEndOfTheRunningOne) {
  for (std::int64_t woken = kSlice + 1; woken < 4 * kSlice; woken += 333 * kUs) {
    const std::int64_t end = (woken + kSlice - 1) / kSlice * kSlice;
    EXPECT_EQ(begin_of_woken(LoneSlice::kRolls, woken), end + kSwitch);
  }
}

TEST(LoneSlice, WhereItRollsWhileQueuedItDependsOnWhatIsBehindTheRunningKernel) {
  for (std::int64_t woken = kSlice + 1; woken < 4 * kSlice; woken += 333 * kUs) {
    EXPECT_EQ(begin_of_woken(LoneSlice::kRollsWhileQueued, woken), woken + kSwitch);
    DeviceDriver driver(device(LoneSlice::kRollsWhileQueued), 2);
    driver.submit(0, 50 * kMs);
    driver.submit(0, 50 * kMs);
    driver.run_to(woken);
    const Ticket short_kernel = driver.submit(1, 20 * kUs);
    driver.drain();
    EXPECT_EQ(driver.begin(short_kernel), (woken + kSlice - 1) / kSlice * kSlice + kSwitch);
  }
}

TEST(LoneSlice, WhatIsQueuedWhileItIsAloneMakesItsSlicesRoll) {
  DeviceDriver driver(device(LoneSlice::kRollsWhileQueued), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(5 * kMs);
  driver.submit(0, 50 * kMs);
  const Ticket woken = driver.submit(1, 20 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(woken), 3 * kSlice + kSwitch);
}

TEST(LoneSlice, AfterTheVisitTheBusyOneHasAFreshSlice) {
  DeviceDriver driver(device(LoneSlice::kUsedUp), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(5 * kMs);
  driver.submit(1, 20 * kUs);
  const std::int64_t back = 5 * kMs + 2 * kSwitch + 20 * kUs;
  driver.run_to(back + 100 * kUs);
  const Ticket soon = driver.submit(1, 20 * kUs);
  driver.run_to(back + kSlice + kSwitch + 50 * kUs);
  EXPECT_EQ(driver.begin(soon), back + kSlice + kSwitch);
}

TEST(LoneSlice, BesideTwoBusyOnesTheRuleMakesNoDifference) {
  std::int64_t begins[2];
  for (const LoneSlice rule : {LoneSlice::kRolls, LoneSlice::kUsedUp}) {
    DeviceDriver driver(device(rule), 3);
    driver.submit(0, 50 * kMs);
    driver.submit(1, 50 * kMs);
    driver.run_to(10 * (kSlice + kSwitch) + 500 * kUs);
    const Ticket woken = driver.submit(2, 20 * kUs);
    driver.drain();
    begins[rule == LoneSlice::kUsedUp] = driver.begin(woken);
  }
  // The rest of the running slice, then the other one's.
  EXPECT_EQ(begins[0], 12 * (kSlice + kSwitch));
  EXPECT_EQ(begins[1], begins[0]);
}

TEST(LoneSlice, ANewLengthHoldsFromTheEndOfTheSliceThatRunsUnderBothRules) {
  for (const LoneSlice rule : {LoneSlice::kRolls, LoneSlice::kUsedUp}) {
    DeviceDriver driver(device(rule), 2);
    driver.submit(0, 50 * kMs);
    driver.run_to(500 * kUs);
    driver.device().control(ClientId{0}, {.time_slice = Duration{6 * kMs}}, driver.now());
    driver.run_to(1 * kMs);
    const Ticket woken = driver.submit(1, 20 * kUs);
    driver.drain();
    EXPECT_EQ(driver.begin(woken), kSlice + kSwitch);
  }
}

TEST(LoneSlice, ANewLengthIsNoFreshSliceForOneThatUsedItsUp) {
  DeviceDriver driver(device(LoneSlice::kUsedUp), 2);
  driver.submit(0, 50 * kMs);
  driver.run_to(5 * kMs);
  driver.device().control(ClientId{0}, {.time_slice = Duration{6 * kMs}}, driver.now());
  driver.run_to(6 * kMs);
  const Ticket woken = driver.submit(1, 20 * kUs);
  driver.drain();
  EXPECT_EQ(driver.begin(woken), 6 * kMs + kSwitch);
}

}  // namespace
}  // namespace corun

#include "sim/device/occupancy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "sim/device/max_min.h"

namespace corun {
namespace {

LaunchShape shape(std::uint32_t blocks, std::uint32_t threads, std::uint32_t registers, std::uint32_t shared_bytes) {
  return {blocks, 1, 1, threads, 1, 1, registers, shared_bytes};
}

TEST(Occupancy, BlocksPerSmAreLimitedByWhicheverResourceRunsOutFirst) {
  DeviceSpec spec;
  spec.sm_count = 2;
  spec.shared_memory_per_sm_bytes = 100'000;
  EXPECT_EQ(resident_blocks(spec, shape(1, 256, 0, 0)), 2 * 8u);        // 2048 threads
  EXPECT_EQ(resident_blocks(spec, shape(1, 32, 0, 0)), 2 * 32u);        // 32 blocks
  EXPECT_EQ(resident_blocks(spec, shape(1, 256, 128, 0)), 2 * 2u);      // 65536 registers
  EXPECT_EQ(resident_blocks(spec, shape(1, 256, 32, 30'000)), 2 * 3u);  // shared memory
}

TEST(Occupancy, AnUnknownShapeFillsTheDevice) {
  const Occupancy unknown = occupancy_of(DeviceSpec{}, OpKind::kKernel, {}, 1000);
  for (const Work left : {1000, 1}) {
    EXPECT_EQ(unknown.room_at(left), kAllSms);
    EXPECT_EQ(unknown.throughput_at(left), kAllSms);
  }
}

DeviceSpec four_sms_of_one_block() {
  DeviceSpec spec;
  spec.sm_count = 4;
  spec.max_blocks_per_sm = 1;
  return spec;
}

TEST(Occupancy, RoomComesFreeWhenTheLastBlockHasBeenDispatched) {
  const DeviceSpec spec = four_sms_of_one_block();
  for (const std::uint32_t blocks : {8, 10, 12}) {  // a block takes 1000; 650 before the end all are dispatched
    const Occupancy waves = occupancy_of(spec, OpKind::kKernel, shape(blocks, 32, 0, 0), 250 * blocks);
    EXPECT_EQ(waves.room_at(651), kAllSms) << blocks;
    EXPECT_LT(waves.room_at(650), kAllSms) << blocks;
    EXPECT_EQ(waves.until_change(1000), 350) << blocks;
  }
}

TEST(Occupancy, ADrainingKernelGivesUpEverMoreRoomInEqualSteps) {
  DeviceSpec spec = four_sms_of_one_block();
  spec.sm_fill_exponent = 0.5;
  const Occupancy waves = occupancy_of(spec, OpKind::kKernel, shape(8, 32, 0, 0), 16'000);
  ASSERT_EQ(waves.drain_work, 5200);
  Work left = waves.drain_work;
  for (const double room : {7 / 8.0, 5 / 8.0, 3 / 8.0, 1 / 8.0}) {
    EXPECT_NEAR(static_cast<double>(waves.room_at(left)) / kAllSms, room, 1e-5);
    EXPECT_NEAR(static_cast<double>(waves.throughput_at(left)) / kAllSms, std::sqrt(room), 1e-5);
    EXPECT_EQ(waves.until_change(left), 1300);
    left -= waves.until_change(left);
  }
  EXPECT_EQ(left, 0);
}

TEST(Occupancy, WhatTheLastWaveDoesNotFillIsFreeWhileItDrains) {
  DeviceSpec spec = four_sms_of_one_block();
  spec.sm_rate_exponent = spec.sm_fill_exponent = 0.5;
  for (const std::uint32_t blocks : {5, 7, 10, 12}) {
    const double last = (blocks - 1) % 4 + 1;
    const Occupancy waves = occupancy_of(spec, OpKind::kKernel, shape(blocks, 32, 0, 0), 250 * blocks);
    EXPECT_EQ(waves.room_at(651), kAllSms) << blocks;
    EXPECT_NEAR(static_cast<double>(waves.room_at(650)) / kAllSms, last / 4.0 * 7 / 8.0, 1e-5) << blocks;
    EXPECT_NEAR(static_cast<double>(waves.throughput_at(650)) / kAllSms, std::sqrt(last / 4.0 * 7 / 8.0), 1e-5)
        << blocks;
  }
}

TEST(Occupancy, BlocksThatAllFindRoomHoldItToTheEnd) {
  const Occupancy half = occupancy_of(four_sms_of_one_block(), OpKind::kKernel, shape(2, 32, 0, 0), 1000);
  EXPECT_EQ(half.room_at(1000), kAllSms / 2);
  EXPECT_EQ(half.room_at(1), kAllSms / 2);
  EXPECT_EQ(half.until_change(1000), 1000);
}

TEST(Occupancy, BlocksThatAllFindRoomEndOneAfterAnotherInTheLastPartOfTheirTime) {
  DeviceSpec spec = four_sms_of_one_block();
  spec.one_wave_drain = 0.2;
  spec.sm_fill_exponent = 0.5;
  const Occupancy half = occupancy_of(spec, OpKind::kKernel, shape(2, 32, 0, 0), 10'000);
  EXPECT_EQ(half.room_at(2001), kAllSms / 2);
  EXPECT_EQ(half.until_change(10'000), 8000);
  EXPECT_NEAR(static_cast<double>(half.room_at(2000)) / kAllSms, 7 / 16.0, 1e-5);
  EXPECT_NEAR(static_cast<double>(half.throughput_at(2000)) / kAllSms, 0.5 * std::sqrt(7 / 8.0), 1e-5);
  EXPECT_NEAR(static_cast<double>(half.room_at(1)) / kAllSms, 1 / 16.0, 1e-5);
}

TEST(Occupancy, BlocksGoToEmptySmsFirstAndAFewOfThemUseUpMostOfAnSm) {
  DeviceSpec spec;
  spec.sm_count = 4;
  spec.max_blocks_per_sm = 4;
  spec.sm_rate_exponent = 0.5;
  spec.sm_fill_exponent = 0.25;
  const auto demand = [&](std::uint32_t blocks) {
    return static_cast<double>(occupancy_of(spec, OpKind::kKernel, shape(blocks, 32, 0, 0), 1000).throughput) / kAllSms;
  };
  EXPECT_NEAR(demand(1), 0.5 * std::pow(0.25, 0.25), 1e-5);  // one block on a quarter of the SMs
  EXPECT_NEAR(demand(4), std::pow(0.25, 0.25), 1e-5);        // one on each
  EXPECT_NEAR(demand(8), std::pow(0.5, 0.25), 1e-5);         // two on each
  spec.sm_fill_exponent = 0.0;                               // one block has all of an SM
  EXPECT_NEAR(demand(2), std::pow(0.5, 0.5), 1e-5);
  EXPECT_NEAR(demand(5), 1.0, 1e-5);
}

TEST(Occupancy, WhereAnSmIsNoMoreThanItsBlocksOnlyTheirNumberCounts) {
  DeviceSpec spec;
  spec.sm_count = 4;
  spec.max_blocks_per_sm = 4;
  for (const double exponent : {0.5, 1.0})
    for (std::uint32_t blocks = 1; blocks < 16; ++blocks) {
      spec.sm_rate_exponent = spec.sm_fill_exponent = exponent;
      const Occupancy occupancy = occupancy_of(spec, OpKind::kKernel, shape(blocks, 32, 0, 0), 1000);
      EXPECT_NEAR(static_cast<double>(occupancy.throughput) / kAllSms, std::pow(blocks / 16.0, exponent), 1e-5)
          << blocks;
    }
}

RC_GTEST_PROP(MaxMin, NobodyIsBelowTheBottleneckUnlessItsDemandIsMet, ()) {
  const auto demands = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1000));
  const auto capacity = *rc::gen::inRange<std::int64_t>(0, 3000);
  const auto shares = max_min_shares(demands, capacity);
  RC_ASSERT(shares.size() == demands.size());
  const std::int64_t given = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const std::int64_t wanted = std::accumulate(demands.begin(), demands.end(), std::int64_t{0});
  RC_ASSERT(given == std::min(capacity, wanted));
  const std::int64_t largest = shares.empty() ? 0 : *std::max_element(shares.begin(), shares.end());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    RC_ASSERT(shares[i] >= 0 && shares[i] <= demands[i]);
    if (shares[i] < demands[i]) RC_ASSERT(shares[i] >= largest - 1);
  }
}

// Gives out one unit after the other, each to the one that has least and still wants more.
std::vector<std::int64_t> by_single_units(const std::vector<std::int64_t>& demands, std::int64_t capacity) {
  std::vector<std::int64_t> shares(demands.size(), 0);
  for (; capacity > 0; --capacity) {
    std::size_t poorest = demands.size();
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (shares[i] < demands[i] && (poorest == demands.size() || shares[i] < shares[poorest])) poorest = i;
    }
    if (poorest == demands.size()) break;
    ++shares[poorest];
  }
  return shares;
}

TEST(MaxMin, EqualsGivingOutSingleUnitsOnAllSmallInstances) {
  for (std::int64_t a = 0; a <= 5; ++a) {
    for (std::int64_t b = 0; b <= 5; ++b) {
      for (std::int64_t c = 0; c <= 5; ++c) {
        for (std::int64_t capacity = 0; capacity <= 16; ++capacity) {
          auto closed = max_min_shares(std::vector{a, b, c}, capacity);
          auto stepwise = by_single_units({a, b, c}, capacity);
          std::sort(closed.begin(), closed.end());
          std::sort(stepwise.begin(), stepwise.end());
          EXPECT_EQ(closed, stepwise) << a << ' ' << b << ' ' << c << " of " << capacity;
        }
      }
    }
  }
}

}  // namespace
}  // namespace corun

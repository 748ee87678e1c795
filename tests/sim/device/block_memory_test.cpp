// Paging of a Device in blocks: against managed memory that goes through every fault of every block, and laws.

#include "sim/device/model/block_memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/reference/memory/managed_memory.h"
#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr std::uint64_t kBlock = BlockMemory::kBlockBytes;
constexpr std::int64_t kPass = 100 * kMs;  // compute of one pass over a working set
constexpr std::array<Access, 3> kOrders = {Access::kSequential, Access::kRandom, Access::kSawtooth};

DeviceSpec device_of(std::uint64_t memory_blocks) {
  DeviceSpec spec;
  spec.paging = Paging::kBlocks;
  spec.memory_bytes = memory_blocks * kBlock;
  spec.fault_group = PagingCosts{}.fault_group;
  spec.eviction = PagingCosts{}.eviction;
  spec.switch_cost = Duration{0};
  return spec;
}

/// Clients in a memory, and whose turn it is, pass after pass.
struct Script {
  std::vector<std::uint64_t> blocks;  ///< by client
  std::vector<Access> access;         ///< likewise
  std::uint64_t memory_blocks;
  std::vector<std::uint32_t> turns;
};

Script any_script() {
  Script script;
  const auto clients = *rc::gen::inRange<std::uint32_t>(1, 4);
  for (std::uint32_t c = 0; c < clients; ++c) {
    script.blocks.push_back(*rc::gen::inRange<std::uint64_t>(1, 300));
    script.access.push_back(kOrders[*rc::gen::inRange<std::size_t>(0, kOrders.size())]);
  }
  script.memory_blocks = *rc::gen::inRange<std::uint64_t>(std::ranges::max(script.blocks), 600);
  script.turns = *rc::gen::container<std::vector<std::uint32_t>>(*rc::gen::inRange<std::size_t>(1, 12),
                                                                 rc::gen::inRange<std::uint32_t>(0, clients));
  return script;
}

/// The same script by managed memory, which is told of each block.
class ExactPasses {
 public:
  explicit ExactPasses(const Script& script) : memory_({}, script.memory_blocks * kBlock), free_(script.memory_blocks) {
    for (std::uint32_t c = 0; c < script.blocks.size(); ++c) {
      const auto count = static_cast<std::uint32_t>(script.blocks[c]);
      memory_.join(ClientId{c}, count * kBlock);
      clients_.push_back({count, TouchOrder(script.access[c], count, ClientId{c}), 0});
    }
  }

  /// Waits of the client's next pass. What it places into free memory at its first one costs nothing.
  Duration pass(ClientId client) {
    Client& of = clients_[client.value];
    if (of.touch == 0) {
      memory_.populate(client, 0, std::min<std::uint64_t>(of.blocks, free_) * kBlock);
      free_ -= std::min<std::uint64_t>(of.blocks, free_);
    }
    Duration stall{};
    for (std::uint32_t i = 0; i < of.blocks; ++i)
      stall += memory_.touch(client, of.order.block(of.touch++) * kBlock, kBlock);
    return stall;
  }

  std::uint64_t paged_bytes(ClientId client) const { return memory_.counts(client).bytes_in; }
  std::uint64_t resident_bytes(ClientId client) const { return memory_.resident_bytes(client); }

 private:
  struct Client {
    std::uint32_t blocks;
    TouchOrder order;
    std::uint64_t touch;
  };
  ManagedMemory memory_;
  std::uint64_t free_;
  std::vector<Client> clients_;
};

RC_GTEST_PROP(BlockMemory, OperationsThatGoThroughTheirSetFirstMoveTheSameBlocksInTheSameTime, ()) {
  const Script script = any_script();
  ExactPasses exact(script);
  DeviceDriver driver(device_of(script.memory_blocks));
  for (std::size_t c = 0; c < script.blocks.size(); ++c)
    driver.join({.access = script.access[c], .working_set_bytes = script.blocks[c] * kBlock});
  for (const std::uint32_t turn : script.turns) {
    const ClientId client{turn};
    const std::uint64_t before = exact.paged_bytes(client);
    const Duration expected = Duration{kPass} + exact.pass(client);
    const std::uint64_t faults = (exact.paged_bytes(client) - before) / kBlock;
    const Time begin = driver.now();
    driver.submit(turn, kPass);
    driver.drain();
    RC_ASSERT(std::abs(to_ns(driver.now() - begin - expected)) <= static_cast<std::int64_t>(faults));  // rounded up
    for (std::uint32_t i = 0; i < script.blocks.size(); ++i) {
      const MemoryUse use = driver.device().memory(ClientId{i});
      RC_ASSERT(use.paged_bytes == exact.paged_bytes(ClientId{i}));
      RC_ASSERT(use.resident_bytes == exact.resident_bytes(ClientId{i}));
    }
  }
}

// Touches spread over the compute: a pass that ends within a nanosecond of its last touch may begin one more.
RC_GTEST_PROP(BlockMemory, PassesThatTouchAsTheyGoMoveTheSameBlocksInTheSameTime, ()) {
  const Script script = any_script();
  ExactPasses exact(script);
  DeviceDriver driver(device_of(script.memory_blocks));
  for (std::size_t c = 0; c < script.blocks.size(); ++c)
    driver.join(
        {.access = script.access[c], .working_set_bytes = script.blocks[c] * kBlock, .touch_period = Duration{kPass}});
  const std::uint64_t slack = kBlock;
  double expected = 0;
  for (const std::uint32_t turn : script.turns) {
    expected += to_seconds(Duration{kPass} + exact.pass(ClientId{turn}));
    driver.submit(turn, kPass);
    driver.drain();
  }
  const double block_s = to_seconds(6 * PagingCosts{}.fault_group + PagingCosts{}.eviction);
  RC_ASSERT(std::abs(to_seconds(driver.now() - kRunStart) - expected) < 0.003 * expected + 2 * block_s);
  for (std::uint32_t i = 0; i < script.blocks.size(); ++i) {
    const std::uint64_t paged = driver.device().memory(ClientId{i}).paged_bytes;
    RC_ASSERT(paged + slack >= exact.paged_bytes(ClientId{i}) && paged <= exact.paged_bytes(ClientId{i}) + slack);
  }
}

RC_GTEST_PROP(BlockMemory, SetsThatFitTogetherNeverPage, ()) {
  const auto blocks = *rc::gen::container<std::vector<std::uint64_t>>(*rc::gen::inRange<std::size_t>(1, 5),
                                                                      rc::gen::inRange<std::uint64_t>(1, 300));
  const std::uint64_t all = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  DeviceDriver driver(device_of(all + *rc::gen::inRange<std::uint64_t>(0, 100)));
  const auto order = kOrders[*rc::gen::inRange<std::size_t>(0, kOrders.size())];
  for (const std::uint64_t count : blocks)
    driver.join({.access = order, .working_set_bytes = count * kBlock, .touch_period = Duration{kPass}});
  constexpr std::uint32_t kRounds = 3;
  for (std::uint32_t round = 0; round < kRounds; ++round)
    for (std::uint32_t c = 0; c < blocks.size(); ++c) driver.submit(c, kPass);
  driver.drain();
  RC_ASSERT(to_ns(driver.now()) == static_cast<std::int64_t>(kRounds * blocks.size()) * kPass);
  RC_ASSERT(driver.device().usage().paging == Duration{});
}

// Whatever the order: what had to leave comes in again, and the link carries it.
RC_GTEST_PROP(BlockMemory, AHandOverTakesAtLeastItsBytesOverTheLink, ()) {
  const auto blocks = *rc::gen::inRange<std::uint64_t>(60, 200);
  const auto memory_blocks = *rc::gen::inRange<std::uint64_t>(blocks, 2 * blocks);
  DeviceSpec spec = device_of(memory_blocks);
  spec.to_device_bytes_per_s = *rc::gen::inRange<std::uint64_t>(500'000'000, 20'000'000'000);
  DeviceDriver driver(spec);
  const auto order = kOrders[*rc::gen::inRange<std::size_t>(0, kOrders.size())];
  for (int c = 0; c < 2; ++c) driver.join({.access = order, .working_set_bytes = blocks * kBlock});
  for (const std::uint32_t client : {0U, 1U}) {
    driver.submit(client, kMs);
    driver.drain();
  }
  const auto missing = static_cast<double>(blocks * kBlock - driver.device().memory(ClientId{0}).resident_bytes);
  const Time begin = driver.now();
  driver.submit(0, kMs);
  driver.drain();
  const double link = missing / static_cast<double>(spec.to_device_bytes_per_s);
  RC_ASSERT(to_seconds(driver.now() - begin - Duration{kMs}) >= link);
}

// Memory of ten blocks, six each: B displaced the first two of A. In order A misses them, and through its own oldest
// blocks all others; on its way back it finds the last four and misses two.
TEST(BlockMemory, TheWayBackFindsWhatWasTouchedLast) {
  for (const auto& [access, faults] : {std::pair(Access::kSequential, 6U), std::pair(Access::kSawtooth, 2U)}) {
    DeviceDriver driver(device_of(10));
    for (int c = 0; c < 2; ++c)
      driver.join({.access = access, .working_set_bytes = 6 * kBlock, .touch_period = Duration{kPass}});
    for (const std::uint32_t client : {0U, 1U, 0U}) {
      driver.submit(client, kPass);
      driver.drain();
    }
    EXPECT_EQ(driver.device().memory(ClientId{0}).paged_bytes, faults * kBlock);
    EXPECT_EQ(driver.device().memory(ClientId{1}).paged_bytes, 2 * kBlock);
  }
}

TEST(BlockMemory, AColdBlockTakesSixGroupsAndWhereOneLeavesAnEvictionToo) {
  DeviceDriver driver(device_of(10));
  for (int c = 0; c < 2; ++c) driver.join({.working_set_bytes = 10 * kBlock});
  driver.submit(0, kMs);
  driver.drain();
  EXPECT_EQ(to_ns(driver.now()), kMs);
  driver.submit(1, kMs);
  driver.drain();
  EXPECT_EQ(to_ns(driver.now()), 2 * kMs + 10 * (6 * 121'000 + 120'000));
}

// The tree of 51 % gives the number of groups, forward and back.
TEST(BlockMemory, TheGroupsOfABlockAreThoseOfTheDriversTree) {
  for (const bool is_back : {false, true}) {
    FaultRegion region;
    int groups = 0;
    for (std::uint32_t i = 0; i < FaultRegion::kPages; ++i) {
      const std::uint32_t page = is_back ? FaultRegion::kPages - 1 - i : i;
      if (!region.has(page)) region.fault(page), ++groups;
    }
    EXPECT_EQ(groups, BlockMemory::kGroupsPerBlock);
  }
}

TEST(BlockMemory, APrefetchBringsBlocksInBulkWithoutFaults) {
  DeviceSpec spec = device_of(1000);
  spec.to_device_bytes_per_s = 1000 * kBlock;
  DeviceDriver driver(spec);
  for (int c = 0; c < 2; ++c) driver.join({.working_set_bytes = 1000 * kBlock});
  for (const std::uint32_t client : {0U, 1U}) {
    driver.submit(client, kMs);
    driver.drain();
  }
  const Time begin = driver.now();
  const std::uint64_t faulted = driver.device().memory(ClientId{0}).paged_bytes;
  driver.device().prefetch(ClientId{0}, driver.now());
  const Ticket back = driver.submit(0, kMs);
  driver.drain();
  EXPECT_NEAR(to_seconds(Duration{driver.end(back)}) - to_seconds(begin - kRunStart), 1.001, 1e-4);
  EXPECT_EQ(driver.device().memory(ClientId{0}).paged_bytes, faulted);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 1000 * kBlock);
}

TEST(BlockMemory, WhatAProgramLeavesBehindIsFree) {
  DeviceDriver driver(device_of(15));
  for (int c = 0; c < 2; ++c) driver.join({.working_set_bytes = 10 * kBlock});
  driver.submit(0, kMs);
  driver.drain();
  driver.device().leave(ClientId{0}, driver.now());
  driver.submit(1, kMs);
  driver.drain();
  EXPECT_EQ(to_ns(driver.now()), 2 * kMs);
  EXPECT_EQ(driver.device().memory(ClientId{0}).resident_bytes, 0U);
}

struct Progress {
  double compute_s;
  double bytes_in;
};

/// Two clients of 600 blocks in a memory of 1000, always busy, in turns of `slice`, from 10 s to 60 s.
Progress turns_of(Duration slice, Access access) {
  DeviceSpec spec = device_of(1000);
  spec.time_slice = slice;
  DeviceDriver driver(spec);
  for (int c = 0; c < 2; ++c)
    driver.join({.access = access, .working_set_bytes = 600 * kBlock, .touch_period = Duration{kPass}});
  driver.on_completion = [&](const Completion& done) { driver.submit(done.client.value, kMs); };
  for (const std::uint32_t client : {0U, 1U, 0U, 1U}) driver.submit(client, kMs);
  const auto bytes_in = [&] {
    return static_cast<double>(driver.device().memory(ClientId{0}).paged_bytes +
                               driver.device().memory(ClientId{1}).paged_bytes);
  };
  driver.run_to(10'000 * kMs);
  const std::size_t before = driver.completions().size();
  const double in_before = bytes_in();
  driver.run_to(60'000 * kMs);
  return {static_cast<double>(driver.completions().size() - before) * 1e-3, bytes_in() - in_before};
}

/// The same block by block; a block that a turn does not end is paid for in the client's next one.
Progress exact_turns_of(Duration slice, Access access) {
  constexpr std::uint32_t kBlocks = 600;
  ManagedMemory memory({}, 1000 * kBlock);
  std::vector<TouchOrder> orders;
  for (const ClientId client : {ClientId{0}, ClientId{1}}) {
    memory.join(client, kBlocks * kBlock);
    memory.populate(client, 0, (client.value == 0 ? kBlocks : 1000 - kBlocks) * kBlock);
    orders.emplace_back(access, kBlocks, client);
  }
  std::array<std::uint64_t, 2> touched{};
  std::array<Duration, 2> ahead{};
  double touched_before = 0, in_before = 0;
  const auto all_touched = [&] { return static_cast<double>(touched[0] + touched[1]); };
  const auto bytes_in = [&] {
    return static_cast<double>(memory.counts(ClientId{0}).bytes_in + memory.counts(ClientId{1}).bytes_in);
  };
  Duration now{};
  for (std::uint32_t turn = 0; now < std::chrono::seconds{60}; ++turn) {
    const ClientId client{turn % 2};
    Duration& used = ahead[client.value];
    while (used < slice) {
      const std::uint64_t block = orders[client.value].block(touched[client.value]++);
      const Duration step = Duration{kPass} / kBlocks + memory.touch(client, block * kBlock, kBlock);
      used += step, now += step;
      if (now < std::chrono::seconds{10}) touched_before = all_touched(), in_before = bytes_in();
    }
    used -= slice;
  }
  return {(all_touched() - touched_before) / kBlocks * to_seconds(Duration{kPass}), bytes_in() - in_before};
}

TEST(BlockMemory, ClientsThatTakeTurnsProgressAsBlockByBlock) {
  for (const std::int64_t slice_ms : {2, 100, 1000})
    for (const Access access : kOrders) {
      const Duration slice{slice_ms * kMs};
      const Progress exact = exact_turns_of(slice, access), device = turns_of(slice, access);
      EXPECT_NEAR(device.bytes_in / exact.bytes_in, 1, 0.03) << slice_ms << " ms, order " << static_cast<int>(access);
      EXPECT_NEAR(device.compute_s / exact.compute_s, 1, 0.03) << slice_ms << " ms, order " << static_cast<int>(access);
    }
}

// In order, neither finds a block in, in turns that bring in less than a client misses: 50 s of blocks, of which each
// takes its faults, an eviction and its compute. Turns of a second bring in the whole set, and compute goes on alone.
TEST(BlockMemory, InOrderTheLengthOfShortTurnsDoesNotMatter) {
  const double block_s = 6 * 121e-6 + 120e-6 + 0.1 / 600;
  const double bytes_in = 50 / block_s * static_cast<double>(kBlock);
  for (const std::int64_t slice_ms : {1, 20, 100})
    EXPECT_NEAR(turns_of(Duration{slice_ms * kMs}, Access::kSequential).bytes_in / bytes_in, 1, 0.01) << slice_ms;
  EXPECT_LT(turns_of(Duration{1000 * kMs}, Access::kSequential).bytes_in, 0.7 * bytes_in);
}

TEST(BlockMemory, ForthAndBackPagesLessThanInOrder) {
  const Duration slice{kMs};
  EXPECT_LT(turns_of(slice, Access::kSawtooth).bytes_in, 0.95 * turns_of(slice, Access::kSequential).bytes_in);
  EXPECT_GT(turns_of(slice, Access::kSawtooth).compute_s, 1.2 * turns_of(slice, Access::kSequential).compute_s);
}

}  // namespace
}  // namespace corun

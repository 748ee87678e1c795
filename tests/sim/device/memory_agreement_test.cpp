// The fluid memory of a Device against managed memory block by block, on the same script. Bandwidths of the fluid
// follow from the costs of the blocks: 2 MiB in six fault groups and one eviction.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/reference/memory/managed_memory.h"
#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;
using testing::kMs;

constexpr std::uint64_t kBlock = FaultRegion::kBytes;
constexpr std::int64_t kPass = 100 * kMs;  // compute of one pass over a working set
constexpr int kGroupsPerBlock = 6;

std::uint64_t paging_bytes_per_s(const PagingCosts& costs) {
  const double seconds_per_block = to_seconds(kGroupsPerBlock * costs.fault_group + costs.eviction);
  return static_cast<std::uint64_t>(static_cast<double>(kBlock) / seconds_per_block);
}

DeviceSpec device_with(std::uint64_t memory_blocks, const PagingCosts& costs) {
  DeviceSpec spec;
  spec.memory_bytes = memory_blocks * kBlock;
  spec.handover_bandwidth_bytes_per_s = paging_bytes_per_s(costs);
  spec.switch_cost = Duration{0};
  return spec;
}

/// A client of the fluid whose kernels go through its working set once in kPass.
ContextSpec passes_over(std::uint64_t blocks) {
  return {.working_set_bytes = blocks * kBlock, .touch_period = Duration{kPass}};
}

/// What the fluid places for nothing at a client's first operation.
void place(ManagedMemory& memory, ClientId client, std::uint64_t blocks, std::uint64_t free_blocks) {
  memory.populate(client, 0, std::min(blocks, free_blocks) * kBlock);
}

double as_double(std::uint64_t bytes) { return static_cast<double>(bytes); }

RC_GTEST_PROP(MemoryAgreement, WholePassesInTurnMoveTheSameBytesInTheSameTime, ()) {
  const auto blocks = *rc::gen::container<std::vector<std::uint64_t>>(*rc::gen::inRange<std::size_t>(1, 4),
                                                                      rc::gen::inRange<std::uint64_t>(1, 300));
  const auto clients = static_cast<std::uint32_t>(blocks.size());
  const auto memory_blocks = *rc::gen::inRange<std::uint64_t>(*std::max_element(blocks.begin(), blocks.end()), 600);
  const auto turns = *rc::gen::container<std::vector<std::uint32_t>>(*rc::gen::inRange<std::size_t>(1, 12),
                                                                     rc::gen::inRange<std::uint32_t>(0, clients));
  const PagingCosts costs;
  ManagedMemory exact(costs, memory_blocks * kBlock);
  DeviceDriver fluid(device_with(memory_blocks, costs));
  for (std::uint32_t c = 0; c < clients; ++c) {
    exact.join(ClientId{c}, blocks[c] * kBlock);
    fluid.join(passes_over(blocks[c]));
  }
  std::vector<bool> is_placed(clients);
  std::uint64_t free_blocks = memory_blocks;
  for (const std::uint32_t c : turns) {
    if (!is_placed[c]) place(exact, ClientId{c}, blocks[c], free_blocks);
    if (!is_placed[c]) free_blocks -= std::min(blocks[c], free_blocks);
    is_placed[c] = true;
    const Duration expected = Duration{kPass} + exact.touch(ClientId{c}, 0, blocks[c] * kBlock);
    const Time begin = fluid.now();
    fluid.submit(c, kPass);
    fluid.drain();
    RC_ASSERT(std::abs(to_seconds(fluid.now() - begin) / to_seconds(expected) - 1) < 0.001);
    for (std::uint32_t i = 0; i < clients; ++i) {
      const MemoryUse use = fluid.device().memory(ClientId{i});
      RC_ASSERT(std::abs(as_double(use.paged_bytes) - as_double(exact.counts(ClientId{i}).bytes_in)) < 1e-3 * kBlock);
      RC_ASSERT(std::abs(as_double(use.resident_bytes) - as_double(exact.resident_bytes(ClientId{i}))) < 1e-3 * kBlock);
    }
  }
}

struct Progress {
  double passes;
  double bytes_in;
};

/// Two clients of the same size in turns of `slice`, each over its blocks again and again.
Progress exact_turns(std::uint64_t blocks, std::uint64_t memory_blocks, Duration slice, Duration from, Duration to) {
  ManagedMemory memory({}, memory_blocks * kBlock);
  for (std::uint32_t c = 0; c < 2; ++c) memory.join(ClientId{c}, blocks * kBlock);
  place(memory, ClientId{0}, blocks, memory_blocks);
  place(memory, ClientId{1}, blocks, memory_blocks - blocks);
  const Duration compute = Duration{kPass} / static_cast<std::int64_t>(blocks);
  std::array<std::uint64_t, 2> touched{};
  std::uint64_t touched_before = 0, in_before = 0;
  const auto bytes_in = [&] { return memory.counts(ClientId{0}).bytes_in + memory.counts(ClientId{1}).bytes_in; };
  Duration now{};
  for (std::uint32_t turn = 0; now < to; ++turn) {
    const ClientId client{turn % 2};
    for (Duration used{}; used < slice;) {
      const std::uint64_t block = touched[client.value]++ % blocks;
      const Duration step = compute + memory.touch(client, block * kBlock, kBlock);
      used += step, now += step;
      if (now < from) touched_before = touched[0] + touched[1], in_before = bytes_in();
    }
  }
  return {as_double(touched[0] + touched[1] - touched_before) / as_double(blocks), as_double(bytes_in() - in_before)};
}

Progress fluid_turns(std::uint64_t blocks, std::uint64_t memory_blocks, Duration slice, Duration from, Duration to) {
  DeviceSpec spec = device_with(memory_blocks, {});
  spec.time_slice = slice;
  DeviceDriver driver(spec);
  for (int c = 0; c < 2; ++c) driver.join(passes_over(blocks));
  driver.on_completion = [&](const Completion& done) { driver.submit(done.client.value, kMs); };
  for (const std::uint32_t client : {0U, 1U, 0U, 1U}) driver.submit(client, kMs);
  const auto bytes_in = [&] {
    return as_double(driver.device().memory(ClientId{0}).paged_bytes + driver.device().memory(ClientId{1}).paged_bytes);
  };
  driver.run_to(to_ns(from));
  const std::size_t before = driver.completions().size();
  const double in_before = bytes_in();
  driver.run_to(to_ns(to));
  const double compute_ns = as_double(driver.completions().size() - before) * kMs;
  return {compute_ns / kPass, bytes_in() - in_before};
}

TEST(MemoryAgreement, ClientsThatTakeTurnsThrashAtTheSameRate) {
  for (const std::int64_t slice_ms : {2, 20, 100}) {
    const Duration slice{slice_ms * kMs}, from = std::chrono::seconds{10}, to = std::chrono::seconds{60};
    const Progress exact = exact_turns(600, 1000, slice, from, to), fluid = fluid_turns(600, 1000, slice, from, to);
    EXPECT_NEAR(fluid.passes / exact.passes, 1, 0.03) << slice_ms << " ms: " << fluid.passes << ", " << exact.passes;
    EXPECT_NEAR(fluid.bytes_in / exact.bytes_in, 1, 0.03) << slice_ms << " ms";
  }
}

}  // namespace
}  // namespace corun

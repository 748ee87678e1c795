#include "sim/device/carveout.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace corun {
namespace {

constexpr std::uint32_t kKiB = 1024;

LaunchShape shape(std::uint32_t threads, std::uint32_t shared_bytes, std::uint32_t registers = 0) {
  return {96, 1, 1, threads, 1, 1, registers, shared_bytes};
}

DeviceSpec hopper() {
  DeviceSpec spec;
  spec.sm_count = 132;
  return spec;
}

TEST(Carveout, HoldsAsManyBlocksAsAnSmCouldWithAKibibyteForTheDriver) {
  EXPECT_EQ(carveout_of(hopper(), shape(128, 0)).needed_bytes, 16 * kKiB);
  EXPECT_EQ(carveout_of(hopper(), shape(128, 3 * kKiB)).needed_bytes, 64 * kKiB);
  EXPECT_EQ(carveout_of(hopper(), shape(256, 4356, 32)).needed_bytes, 64 * kKiB);
  EXPECT_EQ(carveout_of(hopper(), shape(128, 13056, 128)).needed_bytes, 64 * kKiB);  // registers leave four blocks
}

TEST(Carveout, IsAllOfAnSmsMemoryAtMost) {
  EXPECT_EQ(carveout_of(hopper(), shape(384, 231424)).needed_bytes, 228 * kKiB);
  DeviceSpec volta = hopper();
  volta.shared_memory_per_sm_bytes = 96 * kKiB;
  EXPECT_EQ(carveout_of(volta, shape(128, 8 * kKiB)).needed_bytes, 96 * kKiB);
}

TEST(Carveout, OfAKernelOfUnknownShapeIsInNobodysWay) {
  const Carveout unknown = carveout_of(hopper(), LaunchShape{});
  EXPECT_EQ(unknown.needed_bytes, 0U);
  EXPECT_GT(unknown.most_bytes, 228 * kKiB);
}

/// Threads and bytes of shared memory in "t512s1024".
std::pair<std::uint32_t, std::uint32_t> neighbour_of(const std::string& label) {
  const std::size_t s = label.find('s');
  return {std::stoul(label.substr(1, s - 1)), s == std::string::npos ? 0 : std::stoul(label.substr(s + 1))};
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

// tests/hardware/placement.sh: blocks of a kernel lay one on an SM, as alone, or closer, with another program under
// MPS.
TEST(Carveout, SaysBesideWhichNeighboursBlocksLayCloserOnAnH200) {
  std::ifstream in(std::string(CORUN_SOURCE_DIR) + "/studies/mps-carveout/placement.csv");
  std::string line;
  std::getline(in, line);
  int pairs = 0, wrong = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), 8U) << line;
    const bool lay_closer = cells[6] != "1";
    if (cells[0] == "alone") {
      EXPECT_FALSE(lay_closer) << line;
      continue;
    }
    const auto [threads, shared] = neighbour_of(cells[0]);
    const Carveout neighbour = carveout_of(hopper(), shape(threads, shared));
    const Carveout kernel = carveout_of(hopper(), shape(std::stoul(cells[2]), std::stoul(cells[3])));
    wrong += (kernel.needed_bytes > neighbour.most_bytes) != lay_closer;
    ++pairs;
  }
  EXPECT_EQ(pairs, 324);
  EXPECT_LE(wrong, 4);  // all four with a neighbour with a single byte of shared memory
}

}  // namespace
}  // namespace corun

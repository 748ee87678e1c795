#include "sim/device/carveout.h"

#include <algorithm>
#include <array>

#include "sim/device/occupancy.h"

namespace corun {

namespace {

constexpr std::uint64_t kKiB = 1024, kOfTheDriver = kKiB, kTwiceAsManyFit = 132 * kKiB;
constexpr std::array<std::uint64_t, 8> kSizes{8, 16, 32, 64, 100, 132, 164, 196};

/// The smallest carve-out that holds so much.
std::uint32_t size_for(const DeviceSpec& spec, std::uint64_t bytes) {
  for (const std::uint64_t size : kSizes)
    if (bytes <= size * kKiB)
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(size * kKiB, spec.shared_memory_per_sm_bytes));
  return spec.shared_memory_per_sm_bytes;
}

}  // namespace

Carveout carveout_of(const DeviceSpec& spec, const LaunchShape& shape) {
  const std::uint64_t blocks = resident_blocks(spec, shape) / spec.sm_count;
  if (blocks == 0) return {};
  const std::uint64_t each = shape.shared_memory_bytes + kOfTheDriver;
  const std::uint64_t more =
      std::min<std::uint64_t>(spec.max_blocks_per_sm, blocks * (shape.shared_memory_bytes > 0 ? 2 : 4));
  const std::uint64_t most = more * each <= kTwiceAsManyFit ? more : blocks;
  return {size_for(spec, blocks * each), size_for(spec, most * each)};
}

}  // namespace corun

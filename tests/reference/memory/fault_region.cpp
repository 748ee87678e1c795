#include "tests/reference/memory/fault_region.h"

#include <bit>

#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::uint32_t kThresholdPercent = 51;

/// The aligned region of `size` pages around `page`.
std::uint32_t region_around(std::uint32_t page, std::uint32_t size) {
  const std::uint32_t pages = size == FaultRegion::kPages ? ~0U : (1U << size) - 1;
  return pages << (page / size * size);
}

std::uint32_t count(std::uint32_t pages) { return static_cast<std::uint32_t>(std::popcount(pages)); }

}  // namespace

std::uint64_t FaultRegion::resident_bytes() const { return count(resident_) * kPageBytes; }

std::uint64_t FaultRegion::fault(std::uint32_t page) {
  CORUN_ASSERT(page < kPages && !has(page), "a fault at page {} of {:#x}", page, resident_);
  const std::uint32_t present = resident_ | 1U << page;
  std::uint32_t reach = 1U << page;
  for (std::uint32_t size = 2; size <= kPages; size *= 2) {
    const std::uint32_t region = region_around(page, size);
    if (count(present & region) * 100 > kThresholdPercent * size) reach = region;
  }
  const std::uint64_t before = resident_bytes();
  resident_ |= reach;
  return resident_bytes() - before;
}

std::uint64_t FaultRegion::fill() {
  const std::uint64_t missing = kBytes - resident_bytes();
  resident_ = ~0U;
  return missing;
}

std::uint64_t FaultRegion::evict() {
  const std::uint64_t present = resident_bytes();
  resident_ = 0;
  return present;
}

}  // namespace corun

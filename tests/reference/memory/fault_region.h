#pragma once

#include <cstdint>

namespace corun {

/// 2 MiB of managed memory, in pages of 64 KiB, and how far one page fault reaches into it.
///
/// A fault grows to the largest aligned power-of-two region around it of which more than 51 % would be on the device,
/// so a first pass in order takes six faults: 64, 64, 128, 256, 512 and 1024 KiB. Source: NVIDIA open GPU kernel
/// modules, kernel-open/nvidia-uvm (prefetch threshold 51, minimum 1), for memory that is touched by the GPU alone.
class FaultRegion {
 public:
  static constexpr std::uint32_t kPages = 32;
  static constexpr std::uint64_t kPageBytes = 64 * 1024;
  static constexpr std::uint64_t kBytes = kPages * kPageBytes;

  bool has(std::uint32_t page) const { return (resident_ >> page & 1U) != 0; }
  std::uint64_t resident_bytes() const;

  /// Serves a fault at a page that is not on the device, `page` < kPages. Returns the bytes that come in.
  std::uint64_t fault(std::uint32_t page);

  /// Brings all of it. Returns the bytes that come in.
  std::uint64_t fill();

  /// Drops all of it. Returns the bytes that were on the device.
  std::uint64_t evict();

 private:
  std::uint32_t resident_ = 0;  ///< one bit per page
};

}  // namespace corun

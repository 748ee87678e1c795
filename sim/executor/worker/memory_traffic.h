#pragma once

#include <cstdint>

#include "sim/executor/driver/cuda_driver.h"
#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// Device memory that surrogates read to draw bandwidth, larger than the caches. Belongs to the context that is current
/// when it is made; takes no memory where nothing is to be drawn.
class MemoryTraffic {
 public:
  static constexpr std::uint32_t kLoadBytes = 16;

  /// Throws Error(kUnsupported) where the driver does not report the memory's bandwidth.
  MemoryTraffic(const CudaDriver& cuda, CudaDevice device, bool is_needed);
  ~MemoryTraffic();
  MemoryTraffic(const MemoryTraffic&) = delete;
  MemoryTraffic& operator=(const MemoryTraffic&) = delete;

  /// Of the device's memory, as its clock and width say; 0 where none is needed.
  double bytes_per_ns() const { return bytes_per_ns_; }
  CudaPointer address() const { return address_; }
  std::uint64_t mask() const { return loads_ - 1; }
  /// Where a kernel begins to read: behind the one before.
  std::uint64_t begin(const Command& command);

 private:
  const CudaDriver& cuda_;
  double bytes_per_ns_ = 0.0;
  CudaPointer address_ = 0;
  std::uint64_t loads_ = 1;  ///< that it holds; a power of two
  std::uint64_t next_ = 0;
};

}  // namespace corun::executor

#pragma once

#include <cstdint>
#include <vector>

#include "sim/executor/driver/cuda_driver.h"

namespace corun::executor {

/// The driver's streams behind those of a client: each of these has a lane for every priority that its operations had.
/// Order within a client's stream holds across its lanes. Belongs to the context that is current when it is made.
class StreamLanes {
 public:
  StreamLanes(const CudaDriver& cuda, std::uint32_t streams);

  /// Priorities that the device knows: 0 is the lowest, this less one the highest.
  std::int32_t levels() const { return least_ - greatest_ + 1; }

  /// The driver's stream for the next operation of a client's stream. A priority that the device does not have is the
  /// nearest that it has.
  CudaHandle lane(std::uint32_t stream, std::int32_t priority);

 private:
  struct Lanes {
    std::vector<CudaHandle> by_level;  ///< nullptr = not used yet
    std::size_t level = 0;             ///< of its newest operation
    CudaHandle handover = nullptr;     ///< event behind what the lane before was given
  };
  CudaHandle open(Lanes& lanes, std::size_t level) const;

  const CudaDriver& cuda_;
  std::int32_t least_ = 0, greatest_ = 0;  ///< CUDA's: smaller goes first
  std::vector<Lanes> streams_;
};

}  // namespace corun::executor

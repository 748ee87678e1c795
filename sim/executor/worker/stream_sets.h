#pragma once

#include <cstdint>
#include <vector>

#include "sim/executor/driver/cuda_driver.h"

namespace corun::executor {

/// The driver's streams of a worker: for each stream of the client a set, with one stream for every priority that its
/// operations had. Order within a client's stream holds across its set. Belongs to the context that is current when it
/// is made.
class StreamSets {
 public:
  StreamSets(const CudaDriver& cuda, std::uint32_t streams);

  /// Priorities that the device knows: 0 is the lowest, this less one the highest.
  std::int32_t levels() const { return least_ - greatest_ + 1; }

  /// The driver's stream for the next operation of a client's stream. A priority that the device does not have is the
  /// nearest that it has.
  CudaHandle stream(std::uint32_t of_client, std::int32_t priority);

 private:
  struct StreamSet {
    std::vector<CudaHandle> by_level;  ///< nullptr = not used yet
    std::size_t level = 0;             ///< of its newest operation
    CudaHandle handover = nullptr;     ///< event behind what the level before was given
  };
  CudaHandle open(StreamSet& set, std::size_t level) const;

  const CudaDriver& cuda_;
  std::int32_t least_ = 0, greatest_ = 0;  ///< CUDA's: smaller goes first
  std::vector<StreamSet> sets_;            ///< by stream of the client
};

}  // namespace corun::executor

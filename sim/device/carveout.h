#pragma once

#include <cstdint>
#include <limits>

#include "sim/device/spec.h"
#include "traces/timeline.h"

namespace corun {

/// What a kernel makes of an SM's memory, which is shared memory in one part, the carve-out, and cache in the other. An SM
/// changes the carve-out only while it is idle. A block begins only where the carve-out holds as many of its kind as the SM
/// could; on an idle SM the driver makes it so, or leaves it as it is where it is not too large.
///
/// So beside kernels that use little shared memory, blocks of one that uses more find no SM but those that were left with
/// such a carve-out, and lie on these as closely as they fit, or wait for an idle one. Measured on an H200 under MPS: which SMs
/// blocks of 18 shapes lay on beside 18 neighbours. With the neighbour's carve-out set to the largest they lay as alone
/// (studies/mps-carveout).
struct Carveout {
  std::uint32_t needed_bytes = 0;  ///< of the carve-out of an SM on which its blocks begin
  std::uint32_t most_bytes = std::numeric_limits<std::uint32_t>::max();  ///< of that which an SM has when they began there
};

/// Sizes are those that CUDA devices have: 8, 16, 32, 64, 100, 132, 164, 196 KiB and all of `shared_memory_per_sm_bytes`; the
/// driver takes 1 KiB of it for every block. A kernel of unknown shape needs nothing and leaves all.
///
/// `most_bytes` is that of twice the blocks where these fit into 132 KiB, of four times as many without shared memory:
/// what the measurement gave, whose reason is not known.
Carveout carveout_of(const DeviceSpec& spec, const LaunchShape& shape);

}  // namespace corun

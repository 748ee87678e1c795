#pragma once

#include <cstdint>
#include <limits>

#include "sim/device/spec.h"
#include "traces/timeline.h"

namespace corun {

/// How a kernel splits an SM's memory: shared memory in one part, the carve-out, and cache in the other.
///
/// An SM changes its carve-out only while it is idle. A block begins only where the carve-out holds as many blocks of
/// its kernel as the SM could. On an idle SM the driver sets the carve-out to that, or leaves a larger one that is
/// within `most_bytes`. So next to kernels that use little shared memory, blocks of a kernel that uses more find room
/// only on SMs that were left with a larger carve-out, or wait for an idle one. Sources: studies/mps-model.
struct Carveout {
  std::uint32_t needed_bytes = 0;  ///< least carve-out of an SM on which its blocks can begin
  std::uint32_t most_bytes =
      std::numeric_limits<std::uint32_t>::max();  ///< largest one that the driver leaves for them
};

/// Sizes are those that CUDA devices have: 8, 16, 32, 64, 100, 132, 164, 196 KiB and all of
/// `shared_memory_per_sm_bytes`. The driver takes 1 KiB of them for every block. A kernel of unknown shape needs
/// nothing and leaves all.
///
/// `most_bytes` holds twice the blocks where these fit into 132 KiB, and four times as many of a kernel without shared
/// memory: a fit to measurements, undocumented.
Carveout carveout_of(const DeviceSpec& spec, const LaunchShape& shape);

}  // namespace corun

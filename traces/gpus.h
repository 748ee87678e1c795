#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/compact_capture.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture holds of one GPU.
struct GpuUse {
  std::uint32_t gpu = 0;  ///< QueueRecord::device
  std::string name;       ///< "" = not stated
  std::uint64_t ops = 0;
  std::int64_t busy_ns = 0;  ///< in which one of its operations ran: never more than the capture's span
};

/// The GPUs that a capture has operations on, in order of their numbers.
std::vector<GpuUse> gpus_of(const Timeline& timeline);
std::vector<GpuUse> gpus_of(const CompactCapture& capture);

/// The device that work on a GPU was recorded on. Hosts list all of their GPUs: it is the one with that number, or any
/// where all are alike. Empty where the capture does not say.
CapturedDevice device_of(const Provenance& provenance, std::uint32_t gpu);

/// Device memory that the programs of a capture held on a GPU, each at its most. 0 = not recorded.
struct GpuMemory {
  std::uint64_t bytes = 0;
  MemorySource source = MemorySource::kReserved;  ///< says what is missing from it
};
/// Allocations where they are recorded, else what was in use on the GPU.
GpuMemory memory_of(const Provenance& provenance, std::uint32_t gpu);

/// What a GPU drew while the capture was made; 0 W where that was not recorded.
PowerMean power_of(const Provenance& provenance, std::uint32_t gpu);

/// Durations of all operations over the time from the first one's begin to the last one's end: above 1 where they
/// overlap. 0 where there are none.
double load_of(const CompactCapture& capture);

/// Part of the capture's device time in kernels that wait for other GPUs (is_collective).
double collective_share_of(const CompactCapture& capture);

/// Leaves out what other GPUs and the processes that use only these do. Waits for their work become time of the host.
void keep_gpu(CompactCapture& capture, std::uint32_t gpu);

/// Whether a kernel exchanges data with other GPUs (NCCL, RCCL, MSCCL, oneCCL, NVSHMEM, all-reduce kernels of serving
/// engines), and so runs for as long as these make it wait. By its name.
bool is_collective(std::string_view kernel);

}  // namespace corun

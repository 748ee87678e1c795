// Kernels of the probes by which `simcli calibrate` measures a device.
//
// After a change: nvcc -ptx -arch=compute_75 -O3 probes.cu, then lower .version to 6.5.

#include <cstdint>

/// As Stamp in sim/executor/worker/channel.h: what a kernel tells the host, in memory that both see.
struct Stamp {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t ticket;
};

/// As in probe_context.h.
struct SpinReport {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t gaps;  ///< seen, also those that found no room
  uint64_t step_ns;
  uint64_t done;
};

__device__ __forceinline__ uint64_t global_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

__device__ __forceinline__ void publish(volatile uint64_t* flag, uint64_t value) {
  __threadfence_system();
  *flag = value;
}

/// Watches the clock for `length_ns`: where it jumps by `least_gap_ns` or more, the context was away. Its first thread
/// writes down pairs of begin and length; the others keep the device full.
extern "C" __global__ void corun_spin(SpinReport* report, uint64_t* gaps, uint64_t room, uint64_t length_ns,
                                      uint64_t least_gap_ns) {
  const uint64_t begin = global_ns();
  uint64_t last = begin, count = 0, step = ~0ULL;
  const bool watches = blockIdx.x == 0 && threadIdx.x == 0;
  if (watches) report->begin_ns = begin;
  while (last - begin < length_ns) {
    const uint64_t now = global_ns();
    const uint64_t passed = now - last;
    if (watches && passed > 0 && passed < step) step = passed;
    if (watches && passed >= least_gap_ns) {
      if (count < room) {
        gaps[2 * count] = last;
        gaps[2 * count + 1] = passed;
      }
      ++count;
    }
    last = now;
  }
  if (!watches) return;
  report->end_ns = last;
  report->gaps = count;
  report->step_ns = step;
  publish(&report->done, 1);
}

/// Called by every thread of a block at its begin and end; `arrived` and `left` count the blocks of a launch and are 0
/// before and after it.
__device__ __forceinline__ void arrive(Stamp* stamp, uint32_t* arrived) {
  if (threadIdx.x == 0 && atomicAdd(arrived, 1) == 0) stamp->begin_ns = global_ns();
}

__device__ __forceinline__ void leave(Stamp* stamp, uint64_t ticket, uint32_t* arrived, uint32_t* left) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(left, 1) + 1 != gridDim.x) return;
  *arrived = 0;
  *left = 0;
  stamp->end_ns = global_ns();
  publish(&stamp->ticket, ticket);
}

/// Counted arithmetic: a chain of dependent multiply-adds in every thread.
extern "C" __global__ void corun_compute(Stamp* stamp, uint64_t ticket, uint32_t* arrived, uint32_t* left,
                                         uint64_t iterations, float* sink) {
  arrive(stamp, arrived);
  float value = static_cast<float>(threadIdx.x);
  for (uint64_t i = 0; i < iterations; ++i) value = fmaf(value, 0.999F, 0.5F);
  if (value == -1.0F) *sink = value;  // never: keeps the chain alive
  leave(stamp, ticket, arrived, left);
}

/// Counted memory traffic: each thread writes `iterations` values of 16 bytes that it makes of those read from one
/// place or two. Each place has `mask` + 1 values.
extern "C" __global__ void corun_move(Stamp* stamp, uint64_t ticket, uint32_t* arrived, uint32_t* left,
                                      uint64_t iterations, float4* to, const float4* from, const float4* more,
                                      uint64_t mask) {
  arrive(stamp, arrived);
  uint64_t at = static_cast<uint64_t>(blockIdx.x) * blockDim.x * iterations + threadIdx.x;
  for (uint64_t i = 0; i < iterations; ++i, at += blockDim.x) {
    float4 value = from[at & mask];
    if (more != nullptr) {
      const float4 other = more[at & mask];
      value = make_float4(value.x + other.x, value.y + other.y, value.z + other.z, value.w + other.w);
    }
    to[at & mask] = value;
  }
  leave(stamp, ticket, arrived, left);
}

/// Counts the cycles of its multiprocessor beside the nanoseconds of the device's clock; every thread computes.
extern "C" __global__ void corun_cycles(Stamp* stamp, uint64_t ticket, uint64_t iterations, uint64_t* cycles,
                                        float* sink) {
  const bool watches = blockIdx.x == 0 && threadIdx.x == 0;
  const uint64_t begin = global_ns(), first = clock64();
  float value = static_cast<float>(threadIdx.x);
  for (uint64_t i = 0; i < iterations; ++i) value = fmaf(value, 0.999F, 0.5F);
  if (value == -1.0F) *sink = value;
  if (!watches) return;
  *cycles = clock64() - first;
  stamp->begin_ns = begin;
  stamp->end_ns = global_ns();
  publish(&stamp->ticket, ticket);
}

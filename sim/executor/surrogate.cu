// Kernels that stand for captured ones: a requested amount of arithmetic and memory traffic by a requested grid.
//
// The work of a thread is a chain of dependent multiply-adds, counted, not timed: a kernel that is switched out or
// shares its SMs ends later by as much as a real one would. What a count takes on a device, for each launch shape, is
// measured (shape_law.cpp). After a change: nvcc -ptx -arch=compute_75 -O3 surrogate.cu, then lower .version to 6.5.

#include <cstdint>

/// As in channel.h: what a kernel tells the host, in memory that both see.
struct Stamp {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t ticket;
};

__device__ __forceinline__ uint64_t global_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

/// `arrived` and `left` count blocks of this launch and are 0 before and after it. One thread reads `loads` values of
/// 16 bytes, spread over its iterations, from `traffic`, whose size is `traffic_mask` + 1 values.
extern "C" __global__ void corun_surrogate(Stamp* stamp, uint64_t ticket, uint32_t* arrived, uint32_t* left,
                                           uint64_t iterations, uint64_t loads, const float4* traffic,
                                           uint64_t traffic_mask, float* sink) {
  if (threadIdx.x == 0 && atomicAdd(arrived, 1) == 0) stamp->begin_ns = global_ns();
  float value = static_cast<float>(threadIdx.x), sum = 0;
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t at = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
  const uint64_t every = loads > 0 ? iterations / loads + 1 : iterations + 1;
  uint64_t next_load = every;
  for (uint64_t i = 0; i < iterations; ++i) {
    value = fmaf(value, 0.999F, 0.5F);
    if (i != next_load) continue;
    const float4 read = traffic[at & traffic_mask];
    sum += read.x + read.w;
    at += stride;
    next_load += every;
  }
  if (value + sum == -1.0F) *sink = value;  // never: keeps the chain alive
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(left, 1) + 1 != gridDim.x) return;
  *arrived = 0;
  *left = 0;
  stamp->end_ns = global_ns();
  __threadfence_system();
  *reinterpret_cast<volatile uint64_t*>(&stamp->ticket) = ticket;
}

/// Tells the device's time at the moment it runs.
extern "C" __global__ void corun_clock(Stamp* stamp, uint64_t ticket) {
  stamp->begin_ns = stamp->end_ns = global_ns();
  __threadfence_system();
  *reinterpret_cast<volatile uint64_t*>(&stamp->ticket) = ticket;
}

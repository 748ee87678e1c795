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

/// `arrived` and `left` count blocks of this launch and are 0 before and after it. Each thread reads 16 bytes of
/// `traffic` after every `iterations_per_load` iterations (0 = never): neighbours read neighbouring values, and the
/// launch goes on through the buffer, whose size is `traffic_mask` + 1 values, from `traffic_begin`.
extern "C" __global__ void corun_surrogate(Stamp* stamp, uint64_t ticket, uint32_t* arrived, uint32_t* left,
                                           uint64_t iterations, uint64_t iterations_per_load, const float4* traffic,
                                           uint64_t traffic_mask, uint64_t traffic_begin, float* sink) {
  if (threadIdx.x == 0 && atomicAdd(arrived, 1) == 0) stamp->begin_ns = global_ns();
  float value = static_cast<float>(threadIdx.x), sum = 0;
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t at = traffic_begin + blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
  uint64_t until_load = iterations_per_load > 0 ? iterations_per_load : UINT64_MAX;
  for (uint64_t i = 0; i < iterations; ++i) {
    value = fmaf(value, 0.999F, 0.5F);
    if (--until_load > 0) continue;
    const float4 read = traffic[at & traffic_mask];
    sum += read.x + read.w;
    at += stride;
    until_load = iterations_per_load;
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

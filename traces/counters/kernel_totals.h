#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "traces/timeline.h"

namespace corun {

/// Kernels of one name and launch shape: OpRecord::name and OpRecord::shape.
struct KernelKey {
  std::uint32_t name = 0, shape = 0;
  friend auto operator<=>(const KernelKey&, const KernelKey&) = default;
};
inline KernelKey key_of(const OpRecord& kernel) { return {kernel.name.value, kernel.shape}; }
inline KernelKey key_of(const CounterRecord& counter) { return {counter.name.value, counter.shape}; }

/// What all kernels of a key took together.
struct KernelTotal {
  double ns = 0, launches = 0;
  double mean_ns() const { return ns / launches; }
};
std::map<KernelKey, KernelTotal> kernel_totals(const Timeline& timeline);

}  // namespace corun

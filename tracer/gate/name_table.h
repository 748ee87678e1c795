#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/channel/channel.h"

namespace corun::gate {

static_assert(kMostNames <= 1 << 16);

/// Numbers for names of kernels, which go into the lane once. Any thread.
class NameTable {
 public:
  /// kNoName for nullptr, and when the lane is full.
  std::uint32_t number_of(const char* name, Lane& lane);

 private:
  static constexpr std::uint32_t kSlots = 8192;
  static constexpr int kNumberShift = 48;  ///< addresses of programs take 47 bits

  static std::uint32_t find_or_add(const char* name, Lane& lane);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  /// Where the driver keeps a name, a key that mostly holds, and above it its number: read without the lock.
  std::atomic<std::uint64_t> slots_[kSlots] = {};
};

}  // namespace corun::gate

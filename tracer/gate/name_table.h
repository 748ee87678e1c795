#pragma once

#include <pthread.h>

#include <cstdint>

#include "tracer/gate/gate_channel.h"

namespace corun::gate {

/// Numbers for names of kernels, which go into the lane once. Any thread.
class NameTable {
 public:
  /// kNoName for nullptr, and when the lane is full.
  std::uint32_t number_of(const char* name, Lane& lane);

 private:
  static constexpr std::uint32_t kSlots = 8192;
  struct Slot {
    const char* name;  ///< where the driver keeps it: a key that mostly holds
    std::uint32_t number;
  };

  static std::uint32_t find_or_add(const char* name, Lane& lane);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  Slot slots_[kSlots] = {};
};

}  // namespace corun::gate

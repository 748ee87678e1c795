#pragma once

#include <pthread.h>

#include <cstdint>

#include "tracer/gate/memory/memory_calls.h"

namespace corun::gate {

/// The allocations that a program has: how large each is, and of which context. Any thread.
class AllocationTable {
 public:
  struct Allocation {
    std::uint64_t handle = 0;
    MemoryKind kind = MemoryKind::kAddress;
    std::uint64_t bytes = 0;
    const void* context = nullptr;  ///< nullptr: of none, as mappings are
  };
  /// False where there is no room. One of the same handle and kind has been freed unseen: its bytes are in `replaced`.
  bool keep(const Allocation& allocation, std::uint64_t& replaced);
  /// What is known of it, which is then forgotten; of 0 bytes where there is none.
  Allocation take(std::uint64_t handle, MemoryKind kind);
  /// Forgets those of a context that has ended, and returns their bytes; nullptr: of all contexts.
  std::uint64_t forget_context(const void* context);

  static constexpr std::uint32_t kMost = 1 << 16;

 private:
  static constexpr std::uint32_t kChains = 1 << 13, kNone = 0;
  struct Entry {
    Allocation allocation;
    std::uint32_t next = kNone;  // 1 + its place, as everywhere here
  };
  static std::uint32_t chain_of(std::uint64_t handle);
  std::uint32_t* link_to(std::uint64_t handle, MemoryKind kind);
  std::uint32_t empty_entry();
  bool has_entries();
  void release(std::uint32_t& link);

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  std::uint32_t chains_[kChains] = {};
  Entry* entries_ = nullptr;  // kMost of them, from the first allocation on
  std::uint32_t used_ = 0, free_ = kNone;
};

}  // namespace corun::gate

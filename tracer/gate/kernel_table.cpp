#include "tracer/gate/kernel_table.h"

#include "tracer/guest/lock.h"

namespace corun::gate {

std::uint32_t KernelTable::first_entry(const void* handle) {
  constexpr std::uint64_t kSpread = 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(handle) * kSpread >> 48) % kEntries;
}

void KernelTable::learn(const void* handle, const char* name) {
  const guest::Lock locked(lock_);
  const std::uint32_t first = first_entry(handle);
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    Entry& entry = entries_[(first + i) % kEntries];
    const void* holder = entry.handle.load(std::memory_order_relaxed);
    if (holder != nullptr && holder != handle) continue;
    entry.name.store(name, std::memory_order_release);
    entry.handle.store(handle, std::memory_order_release);
    return;
  }
}

const char* KernelTable::name_of(const void* handle) const {
  const std::uint32_t first = first_entry(handle);
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    const Entry& entry = entries_[(first + i) % kEntries];
    const void* holder = entry.handle.load(std::memory_order_acquire);
    if (holder == handle) return entry.name.load(std::memory_order_acquire);
    if (holder == nullptr) return nullptr;
  }
  return nullptr;
}

}  // namespace corun::gate

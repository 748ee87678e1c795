#include "tracer/cuda/event_table.h"

#include <sys/mman.h>

namespace corun::cupti {
namespace {

constexpr std::size_t kMostProbes = 64;  // in a table that is full, a search must end too

std::size_t first_place(std::uintptr_t event) {
  return static_cast<std::size_t>((event >> 3) * 0x9E3779B97F4A7C15ULL >> 48);
}
static_assert(EventTable::kSlots == std::size_t{1} << 16, "first_place() gives 16 bits");

}  // namespace

bool EventTable::map() {
  void* memory =
      mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_ = static_cast<Slot*>(memory);
  return true;
}

EventTable::Slot* EventTable::find(const void* event, bool is_added) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(event);
  if (slots_ == nullptr || wanted == 0) return nullptr;
  for (std::size_t probe = 0; probe < kMostProbes; ++probe) {
    Slot& slot = slots_[(first_place(wanted) + probe) % kSlots];
    const std::atomic_ref<std::uintptr_t> holder(slot.event);
    std::uintptr_t held = holder.load(std::memory_order_relaxed);
    const bool is_taken = held == 0 && is_added && holder.compare_exchange_strong(held, wanted);
    if (is_taken || held == wanted) return &slot;
    if (held == 0) return nullptr;
  }
  return nullptr;
}

EventMark EventTable::record(const void* event) {
  Slot* const slot = find(event, true);
  if (slot == nullptr) return {};
  const std::uint64_t sync = syncs_.fetch_add(1, std::memory_order_relaxed) + 1;
  std::atomic_ref(slot->sync).store(sync, std::memory_order_relaxed);
  return {static_cast<std::uint32_t>(slot - slots_) + 1, sync};
}

void EventTable::forget(const void* event) {
  if (Slot* const slot = find(event, false)) std::atomic_ref(slot->sync).store(0, std::memory_order_relaxed);
}

EventMark EventTable::last(const void* event) const {
  Slot* const slot = find(event, false);
  if (slot == nullptr) return {};
  const std::uint64_t sync = std::atomic_ref(slot->sync).load(std::memory_order_relaxed);
  return sync == 0 ? EventMark{} : EventMark{static_cast<std::uint32_t>(slot - slots_) + 1, sync};
}

}  // namespace corun::cupti

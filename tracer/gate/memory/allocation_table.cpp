#include "tracer/gate/memory/allocation_table.h"

#include <sys/mman.h>

#include "tracer/guest/lock.h"

namespace corun::gate {

std::uint32_t AllocationTable::chain_of(std::uint64_t handle) {
  constexpr std::uint64_t kSpread = 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint32_t>(handle * kSpread >> 40) % kChains;
}

/// Where the place of this allocation stands; kNone stands there if it is not known.
std::uint32_t* AllocationTable::link_to(std::uint64_t handle, MemoryKind kind) {
  std::uint32_t* link = &chains_[chain_of(handle)];
  while (*link != kNone) {
    Entry& entry = entries_[*link - 1];
    if (entry.allocation.handle == handle && entry.allocation.kind == kind) break;
    link = &entry.next;
  }
  return link;
}

// Megabytes that would be in the library's file, since a gate does not begin with zeros throughout.
bool AllocationTable::has_entries() {
  if (entries_ != nullptr) return true;
  void* memory = mmap(nullptr, kMost * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) entries_ = static_cast<Entry*>(memory);
  return entries_ != nullptr;
}

std::uint32_t AllocationTable::empty_entry() {
  if (!has_entries()) return kNone;
  if (free_ == kNone) return used_ < kMost ? ++used_ : kNone;
  const std::uint32_t place = free_;
  free_ = entries_[place - 1].next;
  return place;
}

void AllocationTable::release(std::uint32_t& link) {
  const std::uint32_t place = link;
  Entry& entry = entries_[place - 1];
  link = entry.next;
  entry = {{}, free_};
  free_ = place;
}

bool AllocationTable::keep(const Allocation& allocation, std::uint64_t& replaced) {
  const guest::Lock locked(lock_);
  std::uint32_t* link = link_to(allocation.handle, allocation.kind);
  replaced = *link == kNone ? 0 : entries_[*link - 1].allocation.bytes;
  const std::uint32_t place = *link == kNone ? empty_entry() : *link;
  if (place == kNone) return false;
  Entry& entry = entries_[place - 1];
  entry = {allocation, *link == kNone ? kNone : entry.next};
  *link = place;
  return true;
}

AllocationTable::Allocation AllocationTable::take(std::uint64_t handle, MemoryKind kind) {
  const guest::Lock locked(lock_);
  std::uint32_t* link = link_to(handle, kind);
  if (*link == kNone) return {};
  const Allocation found = entries_[*link - 1].allocation;
  release(*link);
  return found;
}

std::uint64_t AllocationTable::forget_context(const void* context) {
  const guest::Lock locked(lock_);
  std::uint64_t bytes = 0;
  for (std::uint32_t& chain : chains_) {
    for (std::uint32_t* link = &chain; *link != kNone;) {
      Entry& entry = entries_[*link - 1];
      const bool is_of_any = entry.allocation.kind != MemoryKind::kMapping;
      const bool has_ended = context == nullptr ? is_of_any : entry.allocation.context == context;
      if (has_ended) {
        bytes += entry.allocation.bytes;
        release(*link);
      } else {
        link = &entry.next;
      }
    }
  }
  return bytes;
}

}  // namespace corun::gate

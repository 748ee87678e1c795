#include "tracer/gate/memory/memory_limit.h"

namespace corun::gate {
namespace {

std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

}  // namespace

// Of all processes of the client.
std::uint64_t MemoryLimit::allocated() const {
  std::uint64_t sum = 0;
  const std::uint32_t used = lane().slots_used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used && i < kMostProcesses; ++i) sum += lane().slots[i].allocated.load();
  return sum;
}

// Counted before it is judged, so that of two threads that ask at a time not both get the rest.
bool MemoryLimit::take(std::uint64_t bytes) {
  const std::uint64_t limit = lane().memory_limit.load(std::memory_order_relaxed);
  if (limit == 0 || bytes <= limit) {  // more than that could overflow the sum
    link_->slot().allocated.fetch_add(bytes);
    if (limit == 0 || allocated() <= limit) return true;
    give_back(bytes);
  }
  tell_refused(bytes);
  return false;
}

void MemoryLimit::give_back(std::uint64_t bytes) { link_->slot().allocated.fetch_sub(bytes); }

void MemoryLimit::tell_refused(std::uint64_t bytes) {
  lane().refused_allocations.fetch_add(1);
  std::uint64_t known = lane().refused_bytes.load();
  while ((known == 0 || bytes < known) && !lane().refused_bytes.compare_exchange_weak(known, bytes)) {
  }
}

void MemoryLimit::keep(const AllocationCall& call, std::uint64_t handle, const void* context) {
  const bool has_context = call.kind != MemoryKind::kMapping;
  std::uint64_t replaced = 0;
  if (!table_.keep({handle, call.kind, call.bytes, has_context ? context : nullptr}, replaced)) {
    give_back(call.bytes);
    lane().uncounted.fetch_add(1);
    return;
  }
  give_back(replaced);
  const std::uint64_t now = allocated();
  std::uint64_t most = lane().most_allocated.load();
  while (most < now && !lane().most_allocated.compare_exchange_weak(most, now)) {
  }
}

AllocationTable::Allocation MemoryLimit::free(std::uint64_t handle, MemoryKind kind) {
  const AllocationTable::Allocation freed = table_.take(handle, kind);
  give_back(freed.bytes);
  return freed;
}

void MemoryLimit::has_kept(const AllocationTable::Allocation& allocation) {
  if (allocation.bytes == 0) return;
  std::uint64_t replaced = 0;
  if (table_.keep(allocation, replaced)) link_->slot().allocated.fetch_add(allocation.bytes - replaced);
}

void MemoryLimit::forget_context(const void* context) { give_back(table_.forget_context(context)); }

void MemoryLimit::tell_unmanaged(std::uint64_t bytes) { lane().never_managed.fetch_add(bytes); }

std::uint64_t MemoryLimit::told_total(std::uint64_t total) const {
  const std::uint64_t told = lane().told_memory.load(std::memory_order_relaxed);
  return told == 0 ? total : told;
}

// Managed memory can be had where none is free.
std::uint64_t MemoryLimit::told_free(std::uint64_t free) const {
  const std::uint64_t limit = lane().memory_limit.load(std::memory_order_relaxed);
  if (limit == 0) return free;
  const std::uint64_t left = limit - smaller(limit, allocated());
  return makes_managed() ? left : smaller(left, free);
}

}  // namespace corun::gate

#pragma once

#include <cstdint>

#include "tracer/gate/channel/link.h"
#include "tracer/gate/memory/allocation_table.h"
#include "tracer/gate/memory/memory_calls.h"

namespace corun::gate {

/// Device memory of this process: counted, and held to what its client may have (Lane::memory_limit), which all
/// processes of the client share. Any thread.
///
/// Counts what programs ask for: what the driver rounds up, contexts and code are not in it. Mappings count while their
/// handle is held. It sets no bound to a process of more than AllocationTable::kMost allocations: those beyond are let
/// through and told (Lane::uncounted).
class MemoryLimit {
 public:
  void start(const GateLink& link) { link_ = &link; }

  /// Whether the client may have so much more: then it counts as had. Otherwise nothing has changed but what is told.
  bool take(std::uint64_t bytes);
  /// The driver has refused what was taken.
  void give_back(std::uint64_t bytes);
  /// The driver has allocated what was taken, and it has this handle.
  void keep(const AllocationCall& call, std::uint64_t handle, const void* context);
  /// This is about to be freed: its handle may come again before the call returns.
  AllocationTable::Allocation free(std::uint64_t handle, MemoryKind kind);
  /// It was not freed after all.
  void has_kept(const AllocationTable::Allocation& allocation);
  void forget_context(const void* context);
  void forget_contexts() { forget_context(nullptr); }

  bool makes_managed() const { return lane().is_managed.load(std::memory_order_relaxed) != 0; }
  /// What it could not make so.
  void tell_unmanaged(std::uint64_t bytes);

  /// What to tell the program in place of the driver's figures.
  std::uint64_t told_total(std::uint64_t total) const;
  std::uint64_t told_free(std::uint64_t free) const;

 private:
  Lane& lane() const { return link_->lane(); }
  std::uint64_t allocated() const;
  void tell_refused(std::uint64_t bytes);

  const GateLink* link_ = nullptr;
  AllocationTable table_;
};

}  // namespace corun::gate

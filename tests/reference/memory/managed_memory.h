#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "tests/reference/memory/fault_region.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What paging costs on a device. The defaults are a Tesla P100's on PCIe 3 x16, derived from the micro-benchmark of
/// the nvshare thesis (figures 10.2 to 10.11).
struct PagingCosts {
  Duration fault_group{121'000};  ///< service of one fault group, its copy included; 108 to 130 us over runs
  Duration eviction{120'000};     ///< of 2 MiB, besides the group that needs the room; 1.25 ms in contended runs, whose
                                  ///< cause the measurements do not show
  double bulk_to_device_bytes_per_s = 9.1e9;   ///< of a prefetch
  double bulk_from_device_bytes_per_s = 11e9;  ///< of what a prefetch displaces, at the same time
};

/// What moved for one client.
struct PagingCounts {
  std::uint64_t fault_groups = 0;
  std::uint64_t bytes_in = 0;   ///< to the device, by faults and prefetches
  std::uint64_t bytes_out = 0;  ///< its own, evicted by whomever
};

/// Managed memory of several contexts on one device, block by block: what the driver does, exactly, for programs that
/// say in which order they touch their memory.
///
/// Memory is taken in blocks of 2 MiB. The block to evict is the least recently *faulted* one of all contexts: a block
/// moves to the end of the list when part of it is brought in, not when it is used, so a hot block that never faults
/// again is evicted nevertheless. A block that is partly in occupies all of its 2 MiB. All faults are served one after
/// another; the caller decides whose turn it is. This class stands alone: a Device uses FluidMemory or
/// BlockMemory instead, which tests hold to this one.
class ManagedMemory {
 public:
  /// Each client takes `context_bytes` of the device's `memory_bytes` for itself.
  ManagedMemory(const PagingCosts& costs, std::uint64_t memory_bytes, std::uint64_t context_bytes = 0);

  /// A client with `bytes` of managed memory that was written by the host; clients are numbered densely from 0.
  void join(ClientId client, std::uint64_t bytes);

  /// Frees what the client has on the device; nothing of it is copied.
  void leave(ClientId client);

  /// A kernel goes through [begin, begin + bytes) in order. Returns how long it waits for faults and evictions.
  Duration touch(ClientId client, std::uint64_t begin, std::uint64_t bytes);

  /// Brings whole blocks of the range in order and in bulk; what is in stays where it is in the list.
  Duration prefetch(ClientId client, std::uint64_t begin, std::uint64_t bytes);

  /// First touch by the device: the range takes its place in memory, but nothing has to be copied in.
  void populate(ClientId client, std::uint64_t begin, std::uint64_t bytes);

  const PagingCounts& counts(ClientId client) const { return clients_[client.value].counts; }
  std::uint64_t resident_bytes(ClientId client) const;

 private:
  using BlockIndex = std::uint32_t;
  struct Block {
    ClientId owner;
    FaultRegion pages;
    bool is_placed = false;
    std::list<BlockIndex>::iterator position;  ///< in by_fault_, while placed
  };
  struct Client {
    BlockIndex first = 0;
    BlockIndex count = 0;
    PagingCounts counts;
    bool is_present = true;
  };

  template <class Visit>
  void for_blocks(ClientId client, std::uint64_t begin, std::uint64_t bytes, Visit visit);
  Duration touch_block(BlockIndex index, std::uint32_t from_page, std::uint32_t to_page);
  std::uint64_t place(BlockIndex index);
  std::uint64_t evict_oldest();
  std::uint64_t capacity_blocks() const;

  const PagingCosts costs_;
  const std::uint64_t memory_bytes_;
  const std::uint64_t context_bytes_;
  std::uint64_t present_clients_ = 0;
  std::vector<Block> blocks_;
  std::vector<Client> clients_;
  std::list<BlockIndex> by_fault_;  ///< placed blocks, the least recently faulted first
};

}  // namespace corun

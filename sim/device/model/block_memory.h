#pragma once

#include <deque>
#include <vector>

#include "sim/device/model/residency.h"
#include "sim/device/model/touch_order.h"

namespace corun {

/// Paging in blocks of 2 MiB, by the rules of the driver: a block that is touched and not in is brought in by
/// `kGroupsPerBlock` groups of faults, at `fault_group` each, into the room of the block that faulted least recently,
/// for one `eviction` more where memory was full. One server handles all faults: clients that fault at the same time
/// share it. While a block comes in, its client progresses by as much as the block takes of its touch period.
///
/// A client whose set is all in costs nothing; of others only the blocks that they touch are looked at. Tests hold it
/// to ManagedMemory, which goes through the faults of each block.
class BlockMemory final : public Residency {
 public:
  static constexpr std::uint64_t kBlockBytes = 2 << 20;
  static constexpr int kGroupsPerBlock = 6;  ///< 64, 64, 128, 256, 512 and 1024 KiB, by the driver's tree at 51 %

  BlockMemory(const DeviceSpec& spec, HostLink& link);

  void join(const ContextSpec& context) override;
  void begin_operation(ClientId client) override;
  void free_memory(ClientId client) override;
  void prefetch(ClientId client) override;
  void set_time_slice(ClientId, Duration) override {}  // costs do not depend on turns
  void run(const std::vector<ClientId>& clients, Time now) override;
  Rate pace(ClientId client) const override { return sets_[client.value].pace; }
  Time next_change() const override { return next_change_; }
  void progress(Time from, Time to) override;
  MemoryUse use(ClientId client) const override;

 private:
  struct WorkingSet {
    std::vector<bool> is_in;  ///< by block
    TouchOrder order;
    double compute = 0;            ///< ns of each touch; 0 = operations go through all blocks before they progress
    std::uint32_t resident = 0;    ///< blocks
    std::uint64_t touch = 0;       ///< number of the present one
    double done = 0;               ///< of the touches that begin with the present one
    double speed = 0;              ///< touches, or blocks of a prefetch, per ns
    double stall = 0;              ///< ns of faults and eviction of the present touch, alone at the server; 0 = it hits
    std::uint64_t hits = 0;        ///< touches from the present one on that are known to hit
    std::uint64_t owed = 0;        ///< touches before the operation that began may progress
    std::uint32_t prefetched = 0;  ///< blocks that its prefetch has gone through
    double prefetch_done = 0;      ///< of the next one
    bool is_prefetching = false;
    bool has_begun = false;  ///< the present touch: whether it hits is settled, and if not its block has its place
    bool is_present = true;  ///< has a context
    bool is_placed = false;
    std::uint64_t faulted = 0;  ///< blocks so far
    Rate pace = kFullRate;
    std::uint32_t blocks() const { return static_cast<std::uint32_t>(is_in.size()); }
    bool is_whole() const { return resident == blocks(); }
    bool is_faulting() const { return has_begun && stall > 0; }
  };
  struct Place {
    ClientId client;
    std::uint32_t block;
  };

  void place(ClientId client);
  void begin_touch(ClientId client);
  void pass_over_hits(WorkingSet& set) const;
  void set_speed(WorkingSet& set, double sharers) const;
  std::uint64_t hits_ahead(WorkingSet& set) const;
  void share_host_link();
  void find_next_change(Time now);
  void progress_touches(WorkingSet& set, double elapsed) const;
  void progress_prefetch(ClientId client, double elapsed);
  void seek_missing(WorkingSet& set) const;
  bool bring(ClientId client, std::uint32_t block);
  void evict_down_to(std::uint64_t blocks);
  std::uint64_t capacity() const;

  const std::uint64_t memory_;         ///< bytes
  const std::uint64_t context_bytes_;  ///< of it, taken by each context
  const double fault_;                 ///< ns for the faults of one block
  const double eviction_;              ///< ns for one block
  const double bulk_;                  ///< blocks of a prefetch per ns
  HostLink& link_;
  std::vector<WorkingSet> sets_;  ///< by client
  std::deque<Place> by_fault_;    ///< all that is in, the least recently faulted first
  std::vector<ClientId> running_;
  Time next_change_ = kNever;
};

}  // namespace corun

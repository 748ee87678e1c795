#pragma once

#include <deque>
#include <vector>

#include "sim/device/model/residency.h"

namespace corun {

/// Paging as a fluid: bytes, not blocks.
///
/// A client pages at the hand-over bandwidth if no other client with a working set ran within the last
/// `kTurnsPerWindow` turns, else at the thrash bandwidth: contexts that take turns evict one another. Clients that page
/// at the same time share the bandwidth, and what moves shares the host link with copies.
///
/// Sequential access misses whole while anything is missing; random access misses the missing fraction. A client
/// progresses at 1 / (1 + t/B), where t is what it would fault in a second of compute and B the bandwidth.
class FluidMemory final : public Residency {
 public:
  FluidMemory(const DeviceSpec& spec, HostLink& link);

  void join(const ContextSpec& context) override;
  void begin_operation(ClientId client) override;
  void free_memory(ClientId client) override;
  void prefetch(ClientId client) override;
  void set_time_slice(ClientId client, Duration slice) override;
  void run(const std::vector<ClientId>& clients, Time now) override;
  Rate pace(ClientId client) const override { return sets_[client.value].pace; }
  Time next_change() const override { return next_change_; }
  void progress(Time from, Time to) override;
  MemoryUse use(ClientId client) const override;

 private:
  struct WorkingSet {
    double bytes = 0;
    double resident = 0;
    double touch_rate = 0;  ///< bytes per ns of compute; 0 = everything is needed before an operation progresses
    Access access = Access::kSequential;
    double owed = 0;         ///< still to be faulted before the operation that began may progress
    double to_prefetch = 0;  ///< at most, until its prefetch ends
    double paging_rate = 0;  ///< bytes per ns, by faults or by prefetch
    double faulted = 0;      ///< bytes so far
    Rate pace = kFullRate;
    Duration time_slice{};
    Time last_ran = kRunStart;
    bool is_present = true;  ///< has a context
    bool is_placed = false;
    bool has_run = false;
    bool begins_operation = false;
    bool is_faulting = false;  ///< it misses a block or more, or has not got back all that it missed
    double missing() const { return is_placed ? bytes - resident : 0; }
  };
  /// Bytes that came in one after another; the queue of all of them is the order of eviction.
  struct Extent {
    ClientId client;
    double bytes;
  };

  void place(ClientId client);
  bool is_prefetching(const WorkingSet& set) const;
  bool has_to_fault(const WorkingSet& set) const;
  void note_loss(WorkingSet& set) const;
  void begin_to_owe(WorkingSet& set) const;
  void ask_for_faults(ClientId client, Time now, double sharers);
  void share_host_link();
  void find_next_change(Time now);
  double bytes_to_change(const WorkingSet& set) const;
  double handover_or_thrash(ClientId client, Time now);
  void load(ClientId client, double bytes);
  void evict(double excess);
  double usable() const;
  double free() const;
  Duration alternation_window() const;

  const double memory_;         ///< bytes
  const double context_bytes_;  ///< of it, taken by each context
  const double handover_;       ///< bytes per ns
  const double thrash_;         ///< bytes per ns
  const double bulk_;           ///< bytes per ns
  const Duration time_slice_;
  const Duration switch_cost_;
  HostLink& link_;
  std::vector<WorkingSet> sets_;  ///< by client
  std::deque<Extent> by_fault_;   ///< all that is resident, the least recently faulted first
  std::vector<ClientId> running_;
  Time bandwidth_until_ = kNever;
  Time next_change_ = kNever;
};

}  // namespace corun

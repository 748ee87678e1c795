#pragma once

#include <deque>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/device/model/host_link.h"
#include "sim/device/work.h"

namespace corun {

/// Which part of each client's working set is in device memory, and what it costs to get the rest back. A fluid: bytes,
/// not blocks; the exact rules are those of ManagedMemory, and the model with its sources is in docs/memory.md.
///
/// A client that runs pages in what it misses and displaces the least recently *faulted* bytes of all clients, its own
/// among them. It pages at the hand-over bandwidth if no other client with a working set ran within the last
/// `kTurnsPerWindow` turns, else at the thrash bandwidth: contexts that take turns evict one another. Clients that page
/// at the same time share the bandwidth, and what moves shares the host link with copies.
///
/// Sequential access misses whole while anything is missing; random access misses the missing fraction. A client
/// progresses at 1 / (1 + t/B), where t is what it would fault in a second of compute and B the bandwidth. One whose
/// touch period is 0 stands still at each operation's begin until all of its set is in or has come in once.
///
/// A client's first placement into free memory costs nothing, and a working set larger than the memory counts as the
/// memory: what a client does to itself is part of its solo recording.
class Residency {
 public:
  Residency(const DeviceSpec& spec, HostLink& link);

  /// False where the device's memory or bandwidth is not given: then every pace is full and no other call is needed.
  bool modelled() const { return memory_ > 0 && handover_ > 0; }
  void join(const ContextSpec& context);
  void begin_operation(ClientId client);  ///< one is free to run; the first of a context places its working set
  void free_memory(ClientId client);      ///< the context ended; its next operation begins another one
  void prefetch(ClientId client);         ///< it waits until its set is in, or has come in once, in bulk
  void set_time_slice(ClientId client, Duration slice);  ///< 0 = the device's own

  /// From `now` on, exactly these clients run. The host link knows what copies ask for.
  void run(const std::vector<ClientId>& clients, Time now);
  Rate pace(ClientId client) const { return sets_[client.value].pace; }
  Time next_change() const { return next_change_; }  ///< of any pace, kNever if none; run() again there
  void progress(Time from, Time to);

  MemoryUse use(ClientId client) const;

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

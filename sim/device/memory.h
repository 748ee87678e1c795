#pragma once

#include <vector>

#include "sim/device/device_model.h"
#include "sim/device/work.h"

namespace corun {

/// Which part of each client's working set is in device memory, and what it costs to get the rest back.
///
/// A client that runs pages in what it misses and displaces the bytes of whoever ran least recently. It does so at the
/// hand-over bandwidth if no other client with a working set ran within the last `alternation_window`, else at the
/// thrash bandwidth: contexts that take turns evict one another. While bytes are missing, a client whose touch period
/// is 0 stands still; another progresses at 1 / (1 + t/B), where t is the bytes it touches in a second of compute and
/// B the bandwidth, which clients that page at the same time share.
///
/// A client's first placement into free memory costs nothing. A working set larger than the memory counts as the
/// memory: what one client does to itself is part of its solo recording.
class Residency {
 public:
  explicit Residency(const DeviceSpec& spec);

  /// False where the device's memory or bandwidth is not given: then every pace is full and no other call is needed.
  bool modelled() const { return memory_ > 0 && handover_ > 0; }
  void join(const ContextSpec& context);
  void place(ClientId client);  ///< it is about to run for the first time; later calls do nothing

  /// From `now` on, exactly these clients run.
  void run(const std::vector<ClientId>& clients, Time now);
  Rate pace(ClientId client) const { return sets_[client.value].pace; }
  Time next_change() const { return next_change_; }  ///< of any pace, kNever if none; run() again there
  void progress(Time from, Time to);

 private:
  struct WorkingSet {
    double bytes = 0;
    double resident = 0;
    double touch_rate = 0;    ///< bytes per ns of compute; 0 = everything is needed before it progresses
    double paging_rate = 0;   ///< bytes per ns, while running
    Rate pace = kFullRate;
    Time last_ran = kRunStart;
    bool placed = false;
    bool has_run = false;
    double missing() const { return placed ? bytes - resident : 0; }
  };

  double bandwidth(ClientId client, Time now, Time& until) const;
  void set_pace(ClientId client, Time now, double sharers);
  void displace(double excess, ClientId keeper);
  double total_resident() const;

  const double memory_;    ///< bytes
  const double handover_;  ///< bytes per ns
  const double thrash_;    ///< bytes per ns
  const Duration alternation_window_;
  std::vector<WorkingSet> sets_;  ///< by client
  std::vector<ClientId> running_;
  Time next_change_ = kNever;
};

}  // namespace corun

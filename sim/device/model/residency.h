#pragma once

#include <memory>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/device/model/host_link.h"
#include "sim/device/work.h"

namespace corun {

/// Which part of each client's working set is in device memory, and what it costs to get the rest back. Clients that
/// run page in what they miss and displace the least recently *faulted* memory of all clients, their own among it. The
/// models with their sources are in docs/memory.md.
///
/// Common to all: a client's first placement into free memory costs nothing, and a working set larger than the memory
/// counts as the memory, since what a client does to itself is part of its solo recording. A client whose touch period
/// is 0 stands still at each operation's begin until its set has been gone through once.
class Residency {
 public:
  virtual ~Residency() = default;

  virtual void join(const ContextSpec& context) = 0;
  virtual void begin_operation(ClientId client) = 0;  ///< is free to run; the first of a context places its working set
  virtual void free_memory(ClientId client) = 0;      ///< the context ended; its next operation begins another one
  virtual void prefetch(ClientId client) = 0;         ///< it waits until its set is in, or has come in once, in bulk
  virtual void set_time_slice(ClientId client, Duration slice) = 0;  ///< 0 = the device's own

  /// From `now` on, exactly these clients run. The host link knows what copies ask for.
  virtual void run(const std::vector<ClientId>& clients, Time now) = 0;
  virtual Rate pace(ClientId client) const = 0;
  virtual Time next_change() const = 0;  ///< of any pace, kNever if none; run() again there
  virtual void progress(Time from, Time to) = 0;

  virtual MemoryUse use(ClientId client) const = 0;
};

/// The model that the device names; null where memory or the cost of paging is not given, and nothing pages.
std::unique_ptr<Residency> make_residency(const DeviceSpec& spec, HostLink& link);

/// The part, in (0, 1], that the link grants of paging at `bytes_per_ns` in, and as much out where memory is full.
double granted_to_paging(HostLink& link, double bytes_per_ns, bool is_full);

}  // namespace corun

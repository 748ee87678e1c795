#pragma once

#include <cstdint>
#include <span>

#include "sim/policy/action.h"
#include "sim/policy/view.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What an Arbiter acts on: a simulated device, a real one, or a fake. The arbiter knows nothing else of it.
///
/// All calls come from the one thread that owns the arbiter.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Time now() const = 0;
  /// Hands the client's submission `number` to the device; the backend reports its end by Arbiter::complete.
  virtual void launch(ClientId client, std::uint64_t number) = 0;
  /// The client's next frame is rendered at `level` of its menu.
  virtual void set_quality(ClientId client, std::uint32_t level) = 0;
  /// The client's next frame is rendered once more at `level`; Arbiter::shadow follows.
  virtual void shadow(ClientId client, std::uint32_t level) = 0;
  /// Copies the client's persistent memory to the host; Arbiter::copied follows. Nothing of it is in flight. Or asks
  /// its program to save its state: Arbiter::snapshot_asked follows, and Arbiter::snapshot_saved where it does.
  virtual void snapshot(ClientId client) = 0;
  /// Ends its context: each operation in flight is reported by Arbiter::complete before the next decision, and
  /// Arbiter::copied follows when a new context holds its last snapshot.
  virtual void kill(ClientId client) = 0;
  /// Its host gets an error: it submits nothing more, and leaves when nothing of it is in flight.
  virtual void refuse(ClientId client) = 0;
  virtual void prefetch(ClientId client) = 0;
  /// Carries out kSetSlice, kSetPriority, kSetSmCap, kSetSmShare or kSetInstance: how the device treats the client.
  virtual void control(const Action& action) = 0;
  /// Calls Arbiter::decide at `when`. Replaces the request before; kNever cancels it.
  virtual void wake_at(Time when) = 0;
  /// Calls Arbiter::decide once, after everything else of this instant has been heard.
  virtual void request_decision() = 0;
  /// Something was heard that would have been followed by a decision, which could change nothing. For backends whose
  /// decisions count as events.
  virtual void spare_decision() {}

  virtual std::uint64_t resident_bytes(
      ClientId client) const = 0;                                ///< of its working set; 0 where paging is not modelled
  virtual std::uint64_t paged_bytes(ClientId client) const = 0;  ///< moved to the device for it by faults so far
  virtual Duration device_time(ClientId client) const = 0;       ///< measured so far
  virtual Duration device_busy() const = 0;                      ///< measured so far
  /// Writes what is measured so far into the views of all clients and of the device: the figures above. Always the same
  /// views, so what has not changed since they were written last may be left as it is.
  virtual void measure(std::span<ClientView> clients, DeviceView& device) {
    device.busy = device_busy();
    for (ClientView& client : clients) {
      client.device_time = device_time(client.id);
      if (client.working_set_bytes == 0) continue;
      client.resident_bytes = resident_bytes(client.id);
      client.paged_bytes = paged_bytes(client.id);
    }
  }
};

}  // namespace corun

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/device/spec.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"
#include "traces/timeline.h"

namespace corun {

/// Names a submitted operation until it completes; unique within a run.
using Ticket = std::uint64_t;

/// An operation as handed to the device.
struct DeviceOp {
  Ticket ticket = 0;
  ClientId client{};
  StreamId stream{};            ///< in order within (client, stream)
  OpKind kind = OpKind::kKernel;
  Duration duration{};          ///< device time it needs alone, >= 0
  Duration dispatch_gap{};      ///< device's own time after its stream predecessor's end, running from that instant (from
                                ///< when it is visible, without one); the context counts as having work meanwhile
  Time ready_at{};              ///< when it becomes visible to the device (launch latency); may lie in the future
  LaunchShape shape{};          ///< of kernels; all zero = unknown, treated as filling the device
  std::span<const Ticket> after{};  ///< cross-stream waits: begins after these complete; read during submit() only
};

/// What a device reports of a finished operation.
struct Completion {
  Ticket ticket = 0;
  ClientId client;
  Time begin;            ///< first instant at which it ran
  Time end;              ///< instant at which it finished
  Duration device_time{};  ///< time in which it really progressed, its dispatch gap left out; < end - begin when sliced
};

/// What a client brings along when it joins.
struct ContextSpec {
  double sm_cap = 1.0;                  ///< MPS active-thread percentage as a fraction in (0, 1]; reserves nothing
  std::uint64_t working_set_bytes = 0;  ///< 0 = fits, paging is not modelled for it
  Duration touch_period{};              ///< compute time in which it touches its working set once; 0 = at first use
};

/// Where the device's time went since the run began, up to the last advance().
struct DeviceUsage {
  Duration busy{};       ///< at least one operation progressed on the compute or graphics side
  Duration switching{};  ///< between contexts
  Duration paging{};     ///< stalled on memory that had been evicted
};

/// A GPU as a passive object: it knows neither engine nor policy and asks nobody.
///
/// Whoever drives it submits operations, asks when something will change by itself, and advances it there. All times
/// handed in must not decrease (asserted). Every accepted operation completes exactly once.
class DeviceModel {
 public:
  virtual ~DeviceModel() = default;

  /// Announces a client. Clients are numbered densely from 0 in joining order.
  virtual void join(ClientId client, const ContextSpec& context) = 0;

  /// Hands an operation over at `now`; the device must have been advanced to `now`.
  virtual void submit(const DeviceOp& op, Time now) = 0;

  /// Earliest instant at which the device's state changes without a further submit(); kNever if none.
  virtual Time next_change() const = 0;

  /// Moves to `to` (at most next_change() ahead of the last call) and appends what completed, in order of completion.
  virtual void advance(Time to, std::vector<Completion>& completions) = 0;

  virtual DeviceUsage usage() const = 0;
  /// Device time a client has received so far: what a driver's per-process counter would show.
  virtual Duration device_time(ClientId client) const = 0;
  /// First begin of a running operation, kNever if it has not begun: what a GPU timestamp at its head would show.
  virtual Time begin_of(Ticket ticket) const = 0;
};

/// The model that a specification describes.
std::unique_ptr<DeviceModel> make_device(const DeviceSpec& spec);

}  // namespace corun

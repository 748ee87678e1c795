#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/device/sm_curve.h"
#include "sim/device/spec.h"
#include "traces/base/error.h"
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
  StreamId stream{};  ///< in order within (client, stream)
  OpKind kind = OpKind::kKernel;
  Duration duration{};      ///< device time it needs alone, >= 0
  Duration dispatch_gap{};  ///< device's own time after its stream predecessor's end, running from that instant (from
                            ///< when it is visible, without one); the context counts as having work meanwhile
  Time ready_at{};          ///< when it becomes visible to the device (launch latency); may lie in the future
  std::uint64_t bytes = 0;  ///< of copies and memsets; 0 = not known
  LaunchShape shape{};      ///< of kernels; all zero = unknown, treated as filling the device
  const SmCurve* sm_curve = nullptr;  ///< of a kernel: its times with fewer SMs, if measured; must outlive the device
  bool begin_is_watched = false;      ///< begin_of() is asked for it while it is in flight
  std::span<const Ticket> after{};    ///< cross-stream waits: begins after these complete; read during submit() only
};

/// What a device reports of a finished operation.
struct Completion {
  Ticket ticket = 0;
  ClientId client;
  Time begin;              ///< first instant at which it ran
  Time end;                ///< instant at which it finished
  Duration device_time{};  ///< time in which it really progressed, its dispatch gap left out; < end - begin when sliced
  bool is_lost = false;    ///< ended by abort()
};

/// In which order a client goes through its working set.
enum class Access : std::uint8_t {
  kSequential,  ///< repeatedly from its start: a working set that does not fit misses as a whole
  kRandom,      ///< uniformly: what is resident hits
  kSawtooth,    ///< forth and back, as training goes through its layers; needs paging in blocks
};

/// What the operations of a program draw, as they were recorded.
struct PowerDraw {
  double watts = 0.0;  ///< above the idle power while one of them runs; 0 = not known
  double clock = 1.0;  ///< of the SMs then, in times of the full clock: their durations are those of this clock
};

/// What the device needs to know of a client that joins.
struct ContextSpec {
  double sm_cap = 1.0;  ///< MPS active-thread percentage as a fraction in (0, 1]; reserves nothing
  Access access = Access::kSequential;
  std::uint64_t working_set_bytes = 0;  ///< 0 = fits, paging is not modelled for it
  Duration touch_period{};              ///< compute time in which it touches its working set once; 0 = at first use
  PowerDraw power{};                    ///< counts where the device has a power limit
};

/// How the device treats a client's work; may change while the run goes on. What each mechanism is on real parts and
/// how it is modelled is in docs/mechanisms.md.
///
/// Where they have an effect: `time_slice` on time-sliced devices; `priority`, `sm_cap` and `sm_share` where kernels of
/// all clients share one context (concurrent); `instance` on both. An exclusive device knows none of them. Clients
/// without an instance share what the instances leave.
struct ContextControls {
  Duration time_slice{};      ///< of its compute context's turns, from the end of the present one; 0 = the device's own
  std::int32_t priority = 0;  ///< of its kernels among those of the same context; running blocks are not displaced
  double sm_cap = 1.0;        ///< most of the SMs that its kernels get together, (0, 1]; reserves nothing
  double sm_share = 0.0;      ///< SMs that only its kernels use, in [0, 1]; 0 = it uses what no client reserved
  double instance = 0.0;      ///< fraction of SMs and memory bandwidth of its own device instance, in [0, 1]; 0 = none,
                              ///< else its share means nothing
  friend bool operator==(const ContextControls&, const ContextControls&) = default;
};

/// Where a client's working set is.
struct MemoryUse {
  std::uint64_t resident_bytes = 0;  ///< now
  std::uint64_t paged_bytes = 0;     ///< moved to the device by faults so far
};

/// Where the device's time went since the run began, up to the last advance().
struct DeviceUsage {
  Duration busy{};       ///< at least one operation progressed on the compute or graphics side
  Duration switching{};  ///< between contexts
  Duration paging{};     ///< stalled on memory that had been evicted
  Duration clocked{};    ///< time in times of the full clock: elapsed time where power never held the SMs back
};

/// Whose turn on a device was the last one.
struct LastTurn {
  ClientId client;
  bool is_graphics = false;
};

/// A GPU as a passive object: it knows neither engine nor policy.
///
/// Its driver submits operations, asks when something will change by itself, and advances it there. All times handed in
/// must not decrease (asserted). Every accepted operation completes exactly once.
class DeviceModel {
 public:
  virtual ~DeviceModel() = default;

  /// Announces a client. Clients are numbered densely from 0 in joining order.
  virtual void join(ClientId client, const ContextSpec& context) = 0;

  /// Hands an operation over at `now`. It must be advanced to `now` before, if it pages or shares SMs in space.
  virtual void submit(const DeviceOp& op, Time now) = 0;

  /// Earliest instant at which the device's state changes without a further submit(); kNever if none.
  virtual Time next_change() const = 0;

  /// Moves to `to` (at most next_change() ahead of the last call) and appends what completed, in order of completion.
  virtual void advance(Time to, std::vector<Completion>& completions) = 0;

  /// In place of advance() to next_change(): true if nothing to be told of happens there. Then it is passed,
  /// as if the device had been moved there, and next_change() is the one after it. False, and nothing has happened,
  /// else.
  virtual bool pass_change() { return false; }

  /// Treats the client's work so from `now` on; an operation that runs goes on under the new controls. The device must
  /// have been advanced to `now`. Asserts ranges, and that shares and instances of all clients sum to at most 1.
  virtual void control(ClientId client, const ContextControls& controls, Time now) = 0;

  /// Ends the client's context at `now`: all its operations in flight complete at once, without having done their work.
  /// The device must have been advanced to `now`.
  virtual void abort(ClientId client, Time now, std::vector<Completion>& completions) = 0;

  /// The client's program has ended and nothing of it is in flight: what it holds of the device's memory, its SMs and
  /// its instance are free.
  virtual void leave(ClientId client, Time now) = 0;

  /// Begins to bring the client's working set into memory at the bulk bandwidth, in the background. No effect where
  /// paging is not modelled.
  virtual void prefetch(ClientId client, Time now) = 0;

  /// Of a device on which nothing is in flight: whose turn was the last one, if a new device on which that was so would
  /// go on as this one does. Nullopt where more than that is left, such as memory or power, or where that is not known.
  virtual std::optional<LastTurn> last_turn() const { return std::nullopt; }
  /// On a new device: the last turn was this one. Only of what last_turn() can return.
  virtual void go_on_after(const LastTurn& turn) { CORUN_ASSERT(false, "a turn of client {}", turn.client.value); }

  virtual MemoryUse memory(ClientId client) const = 0;
  virtual DeviceUsage usage() const = 0;
  /// Device time a client has received so far: what a driver's per-process counter would show.
  virtual Duration device_time(ClientId client) const = 0;
  virtual std::span<const Duration> device_times() const = 0;  ///< the same of all clients
  /// Appends the clients whose device time has changed since the last call, in any order.
  virtual void take_newer_times(std::vector<ClientId>& clients) = 0;
  /// Energy in joules that the client's operations took above the idle power so far, of those that have ended; 0 where
  /// its draw is not known or the device has no power limit.
  virtual double energy_j(ClientId client) const = 0;
  /// First start of a running operation whose begin is watched, kNever before: what a GPU timestamp would show.
  virtual Time begin_of(Ticket ticket) const = 0;
};

/// The model that a specification describes.
std::unique_ptr<DeviceModel> make_device(const DeviceSpec& spec);

}  // namespace corun

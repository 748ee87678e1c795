#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/policy/client_traits.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// Whether a client has a frame deadline.
enum class Role : std::uint8_t {
  kInteractive,  ///< renders frames for a viewer: each has a deadline
  kBestEffort,   ///< has no deadline: training, batch inference
};

/// "Not known" for predictions.
inline constexpr Duration kUnknownDuration{-1};

/// An operation as an interposer sees it before it runs, without the duration that it will have.
struct OpView {
  std::uint64_t number = 0;  ///< counts the client's submissions from 0
  std::string_view name;     ///< kernel name; "frame" for render work
  bool is_render = false;    ///< graphics work, which an interposer on CUDA calls does not see
  bool is_copy = false;
  bool is_to_device = false;                       ///< of copies: from host to device
  bool is_from_device = false;                     ///< of copies: from device to host
  std::uint64_t blocks = 0;                        ///< thread blocks of the grid; 0 = not known or not a kernel
  std::uint64_t bytes = 0;                         ///< of copies
  Duration predicted_by_name = kUnknownDuration;   ///< mean over the solo profile's operations of this name
  Duration predicted_by_shape = kUnknownDuration;  ///< mean over those of this name and launch shape
  Duration exact = kUnknownDuration;               ///< duration alone; only for a policy that declares Needs::oracle
  std::uint32_t position = 0;                      ///< counts the client's submissions within their job from 0
  double sm_demand = 1.0;  ///< fraction of the SMs that its first wave of blocks fills; 1 where not known
  Time submitted;          ///< time of the host's call

  bool is_kernel() const { return !is_render && !is_copy; }
};

/// The newest frame of an interactive client.
struct FrameView {
  std::uint64_t number = 0;         ///< counts from 0
  Time begin = kNever;              ///< its first GPU work began; kNever before the first frame
  Time end = kNever;                ///< its last GPU work ended; kNever while it is being rendered
  Duration gpu_busy{};              ///< measured GPU time without its shadow's, valid once the frame has ended
  std::uint32_t quality_level = 0;  ///< at which it was rendered, valid once it has ended
  std::uint32_t scene = 0;          ///< part of the game that it shows, as the game counts them from 1; 0 = not known
};

/// What a server said of itself last: when a step ended, and when it formed the next one.
struct ServerView {
  std::uint64_t steps = 0;       ///< that have ended; 0 for ever if it says nothing
  Time oldest_request = kNever;  ///< arrival of the oldest request without a token that it knows of; kNever = none
};

/// A frame that was rendered once more, off screen, to measure cost and quality of another setting.
struct ShadowFrame {
  std::uint64_t number = 0;         ///< of the frame
  std::uint32_t quality_level = 0;  ///< that was requested
  std::uint32_t scene = 0;          ///< as FrameView::scene
  Duration gpu_busy{};              ///< measured GPU time of the frame at that level
  double quality = 1.0;             ///< similarity of its picture to the best level's, in [0, 1]
};

/// What changes of a client during a run, as far as a policy may know it.
struct ClientState {
  ClientId id{};
  Role role = Role::kBestEffort;
  bool is_present = false;  ///< joined and not left
  bool gate_is_open = false;
  std::span<const OpView> waiting{};  ///< submitted, held at the gate, in order
  std::uint32_t in_flight = 0;        ///< launched, not completed
  Duration in_flight_predicted{};     ///< sum of predicted_by_name over those; unknown ones count 0
  Time last_submitted = kNever;       ///< kNever before its first submission
  Duration device_time{};             ///< measured device time received since the run began
  FrameView frame{};
  Duration frame_period{};              ///< of its pacing; 0 = uncapped or no frames
  bool awaits_shadow = false;           ///< a shadow frame has been asked for and not been rendered
  std::uint64_t working_set_bytes = 0;  ///< memory that it uses over and over; 0 = not known
  std::uint64_t resident_bytes = 0;     ///< of its working set, in device memory now; 0 where paging is not modelled
  std::uint64_t paged_bytes = 0;        ///< moved to the device for it by page faults so far (driver counter)
  Time last_snapshot = kNever;          ///< end of its newest snapshot; kNever = none
  ServerView server{};
  bool is_copying = false;  ///< during a snapshot or a restore of its memory; its gate is closed then
};

/// A client as a policy may know it. What of its traits may change is what holds now. The state comes first:
/// policies read it at every decision.
struct ClientView : ClientState, ClientTraits {};

/// What a policy knows of the device.
struct DeviceView {
  std::uint32_t sm_count = 0;
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint64_t memory_bytes = 0;             ///< 0 = not limited
  std::uint64_t context_bytes = 0;            ///< device memory of a context, in addition to its program's allocations
  std::uint64_t to_device_bytes_per_s = 0;    ///< bandwidth of the host link; 0 = not known
  std::uint64_t from_device_bytes_per_s = 0;  ///< the other direction
  Duration time_slice{};                      ///< of the driver's round robin; 0 = contexts share the device at once
  Duration switch_cost{};                     ///< from one context to another; 0 = contexts share the device at once
  Duration busy{};                            ///< measured time in which an operation of any client ran
};

/// Everything that a policy can see at one instant: what an interposer on hardware can know, and nothing of the future.
///
/// Spans point into the arbiter's own storage; they are valid during the call that handed the view out.
struct GpuView {
  Time now;
  DeviceView device;
  std::span<const ClientView> clients;  ///< indexed by ClientId
  /// In decide(): clients whose state or traits have changed since the last decision, but for what is measured (device
  /// time, resident and paged bytes), in the order of their ids. Elsewhere empty.
  std::span<const ClientId> changed{};

  const ClientView& client(ClientId id) const { return clients[id.value]; }
};

}  // namespace corun

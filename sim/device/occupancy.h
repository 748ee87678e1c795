#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "sim/device/spec.h"
#include "sim/device/work.h"
#include "traces/timeline.h"

namespace corun {

/// A share of the device, or of the part of it that an operation runs on, in units of 2^-20: of its throughput, or of its
/// room for blocks. kFullRate is that of all its SMs.
using SmShare = std::int64_t;
inline constexpr SmShare kAllSms = kFullRate;

/// What an operation holds and asks for while it runs: room for its blocks, and throughput.
///
/// A kernel whose blocks do not all find room at once (of more than one wave) leaves no room until its last block has been
/// dispatched. Then what its last wave does not fill is free, and as its blocks end one after another, what they leave: in the
/// last `drain_work` of it room and throughput become less in kSteps steps. One whose blocks all find room at once does so in
/// the part DeviceSpec::one_wave_drain of its time.
///
/// How much comes free was measured, too: beside Fourier transforms of 1.1, 1.4 and 1.8 waves, and of 2.3 and 2.9, fewer and
/// fewer small kernels got in, in the end half as many (studies/mps-operators). How long it drains:
/// blocks of a small kernel that waited beside real ones on an H200 began 0.65 (0.4 to 0.85) of a block's time before these
/// ended, whether their last wave was nearly full or nearly empty; beside those of one wave 0.12 (0.02 to 0.26) of the
/// kernel's time (studies/mps-block-drain).
struct Occupancy {
  static constexpr std::int64_t kSteps = 4;

  SmShare room = kAllSms;        ///< of the room for blocks, before the drain
  SmShare throughput = kAllSms;  ///< asked for before the drain
  Work drain_work = 0;           ///< work that is left when blocks begin to leave room; 0 = all end together
  SmShare drain_room = kAllSms;  ///< of the room, that the last wave fills
  std::array<SmShare, kSteps> drain_throughput{};  ///< by step, the last one first
  std::uint32_t blocks_per_sm = 1;  ///< that an SM has room for
  Duration wave{};               ///< how long a block runs: its SMs come free after each such time; 0 = only at its end
  bool has_few_waves = false;    ///< more than one and fewer than two

  /// SMs on which blocks with so much room lie: they go to empty ones first.
  SmShare sms_for(SmShare blocks) const { return std::min(kAllSms, blocks * blocks_per_sm); }
  /// What blocks with so much room leave no later kernel of the throughput, however little there is (SpatialSet).
  SmShare kept_by(SmShare blocks) const { return has_few_waves ? blocks : sms_for(blocks); }
  SmShare room_at(Work work_left) const {
    return work_left > drain_work ? room : drain_room * (2 * step_at(work_left) + 1) / (2 * kSteps);
  }
  SmShare throughput_at(Work work_left) const {
    return work_left > drain_work ? throughput : drain_throughput[static_cast<std::size_t>(step_at(work_left))];
  }
  /// Work that was left when it began to hold what it does now, at most; before the drain there is no most.
  Work most_left(Work work_left) const {
    return work_left > drain_work ? std::numeric_limits<Work>::max() : drain_work * (step_at(work_left) + 1) / kSteps;
  }
  /// Work until it holds less, or ends.
  Work until_change(Work work_left) const {
    return work_left > drain_work ? work_left - drain_work : work_left - drain_work * step_at(work_left) / kSteps;
  }

 private:
  /// kSteps - 1 when the drain begins, 0 at the end.
  std::int64_t step_at(Work work_left) const {
    if (work_left == 0) return 0;
    const auto left = static_cast<std::uint64_t>(work_left), drain = static_cast<std::uint64_t>(drain_work);
    return static_cast<std::int64_t>((left * kSteps - 1) / drain);  // the longest wave, kSteps times, needs all 64 bits
  }
};

/// Blocks of one kernel that the whole device holds at once: per SM by threads, registers, shared memory and blocks.
/// 0 if the shape is unknown or one block exceeds an SM.
std::uint64_t resident_blocks(const DeviceSpec& spec, const LaunchShape& shape);

/// What an operation puts on SMs. A kernel what it says. A copy inside the device, or a memset of more than 4 KiB, is a
/// kernel of the driver's: of threads that move 16 bytes each, which is assumed, at least one block of 512. A smaller memset
/// has no blocks: it waits for no room and takes none.
///
/// Measured on an H200 under MPS: beside kernels that fill the device, memsets of 1, 2 and 4 KiB ran as often as alone, those
/// of 8 KiB and more, and all copies, once for each of these kernels (studies/mps-operators).
LaunchShape shape_on_sms(OpKind kind, const LaunchShape& shape, std::uint64_t bytes);

/// Threads of an operation that the device holds at once, as a part of those that it can hold. An unknown shape, and
/// graphics, fill it. Here and below a shape is that of shape_on_sms().
SmShare resident_threads(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape);

/// What saving or bringing back so many threads takes, of what a device full of them takes: the square root. Measured on
/// an H200: of what full contexts lose more than single threads, those that filled 5, 25 and 50 % lost 18, 54 and 65 %
/// (studies/calibration).
SmShare saved_state(SmShare threads);

/// A block takes the kernel's time over its waves, with its last wave not rounded up. Blocks on a fraction t of the SMs,
/// each holding a fraction f of those it could, have t^sm_rate_exponent f^sm_fill_exponent of the throughput; blocks go to
/// empty SMs first. What has no blocks on SMs holds nothing and asks for nothing. An unknown shape, and graphics, fill the
/// device to their end.
///
/// `fraction` [0, 1]: the operation runs on a part of the device, with so much of its SMs, and the shares are of that
/// part; its blocks make 1 / fraction as many waves. `work` is what it takes alone on the whole device.
Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction = 1.0);

/// Rate of an operation that is alone on a part of the device with `fraction` [0, 1] of the SMs and as much of the
/// memory bandwidth, relative to the whole device: such a part is a small device of its own, whose full waves take as
/// long as the whole device's, so the rate is that of their numbers. Graphics and kernels of unknown shape go at
/// `fraction`; on nothing, everything stands still.
Rate speed_on(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, double fraction);

}  // namespace corun

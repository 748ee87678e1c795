#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "sim/device/spec.h"
#include "sim/device/work.h"
#include "traces/timeline.h"

namespace corun {

/// A share of the device, or of the part of it that an operation runs on, in units of 2^-20: of its throughput, or of
/// its room for blocks. kFullRate is that of all its SMs.
using SmShare = std::int64_t;
inline constexpr SmShare kAllSms = kFullRate;

/// What an operation holds and asks for while it runs: room for its blocks, and throughput.
///
/// A kernel of several waves leaves no room until its last block has been dispatched, 0.65 of a block's time before its
/// end. From then on it drains: the room that its last wave does not fill is free, and as its blocks end, room and
/// throughput decrease in kSteps equal steps over the last `drain_work`. A kernel whose blocks all find room at once
/// drains in the part DeviceSpec::one_wave_drain of its time. Sources: studies/mps-model.
struct Occupancy {
  static constexpr std::int64_t kSteps = 4;

  SmShare room = kAllSms;        ///< of the room for blocks, before the drain
  SmShare throughput = kAllSms;  ///< asked for before the drain
  Work drain_work = 0;           ///< work that is left when the drain begins; 0 = all blocks end together
  SmShare drain_room = kAllSms;  ///< room that the last wave fills
  std::array<SmShare, kSteps> drain_throughput{};  ///< by step, the last one first
  std::uint32_t blocks_per_sm = 1;                 ///< that an SM has room for
  Duration wave{};             ///< duration of a block: its SMs come free after each such time; 0 = only at its end
  bool is_one_wave = false;    ///< its blocks all find room at once
  bool has_few_waves = false;  ///< more than one and fewer than two

  /// SMs on which blocks with so much room lie: blocks go to empty SMs first.
  SmShare sms_for(SmShare blocks) const { return std::min(kAllSms, blocks * blocks_per_sm); }
  /// Throughput that blocks with so much room keep from later kernels, even from one that has the least (rule 4 of
  /// DispatchOrderSet).
  SmShare kept_by(SmShare blocks) const { return has_few_waves ? blocks : sms_for(blocks); }
  /// Whether its blocks all find room at once, lie on all SMs and fill a part of each.
  bool lies_thin() const { return is_one_wave && room < kAllSms && sms_for(room) == kAllSms; }
  SmShare room_at(Work work_left) const {
    return work_left > drain_work ? room : drain_room * (2 * step_at(work_left) + 1) / (2 * kSteps);
  }
  SmShare throughput_at(Work work_left) const {
    return work_left > drain_work ? throughput : drain_throughput[static_cast<std::size_t>(step_at(work_left))];
  }
  /// Upper bound of the work that was left when the present step of the drain began; none before the drain.
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

/// The blocks that an operation puts on SMs: of a kernel, its own. A copy inside the device, or a memset of more than
/// 4 KiB, is a kernel of the driver's with one thread (assumed) for every 16 bytes in blocks of 512, at least one
/// block. A smaller memset has no blocks: it waits for no room and takes none. Sources: studies/mps-model.
LaunchShape shape_on_sms(OpKind kind, const LaunchShape& shape, std::uint64_t bytes);

/// Threads of an operation that the device holds at once, as a part of those that it can hold. An unknown shape, and
/// graphics, fill it. Here and below a shape is that of shape_on_sms().
SmShare resident_threads(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape);

/// What saving or restoring so many threads costs, relative to a device full of them: the square root, a fit to
/// contexts that filled 5, 25 and 50 % of an H200 (docs/calibrate.md).
SmShare saved_state(SmShare threads);

/// A block takes the kernel's time over its waves, with the last wave not rounded up. Blocks on a fraction t of the
/// SMs, each SM holding a fraction f of the blocks that it could, have t^sm_rate_exponent f^sm_fill_exponent of the
/// throughput; blocks go to empty SMs first. An operation without blocks on SMs holds nothing and asks for nothing. An
/// unknown shape, and graphics, fill the device to their end.
///
/// `fraction` [0, 1]: the operation runs on a part of the device, with so much of its SMs, and the shares are of that
/// part; its blocks make 1 / fraction as many waves. `work` is what it takes alone on the whole device.
Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction = 1.0);

/// Rate of an operation that is alone on `fraction` [0, 1] of the SMs, relative to all of them. `work` is what it takes
/// alone on the whole device.
///
/// A block takes as long as on the whole device if as many others lie on its SM; blocks of a wave that does not fill
/// its SMs are faster, as `sm_fill_exponent` says. So beyond `kernel_overhead` the time is in proportion to the waves,
/// and a kernel of few blocks is not slowed down. Kernels that the memory binds keep more of their rate: which ones, a
/// launch does not say (SmCurve). Graphics and kernels of unknown shape run at `fraction`, and at 0 everything stands
/// still. Source: studies/sm-caps.
Rate speed_on(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction);

}  // namespace corun

#pragma once

#include "sim/device/spec.h"
#include "sim/device/work.h"
#include "traces/timeline.h"

namespace corun {

/// A share of the throughput of the device, or of the part of it that an operation runs on, in units of 2^-20:
/// kFullRate is that of all its SMs.
using SmShare = std::int64_t;
inline constexpr SmShare kAllSms = kFullRate;

/// What throughput an operation asks for while it runs.
struct Occupancy {
  SmShare body = kAllSms;  ///< while more than `tail_work` is left
  SmShare tail = kAllSms;  ///< in its last wave
  Work tail_work = 0;      ///< work of the last wave; 0 = the last wave is full
  Duration wave{};         ///< how long a block runs: its SMs come free after each such time; 0 = only at its end

  SmShare demand(Work work_left) const { return work_left > tail_work ? body : tail; }
};

/// Blocks of one kernel that the whole device holds at once: per SM by threads, registers, shared memory and blocks.
/// 0 if the shape is unknown or one block exceeds an SM.
std::uint64_t resident_blocks(const DeviceSpec& spec, const LaunchShape& shape);

/// Full waves are equally long. A partial last one goes to as many SMs as it has blocks: with blocks on a fraction t of
/// the SMs, each holding a fraction f of those it could, it has t^sm_rate_exponent f^sm_fill_exponent of the throughput,
/// and is t f of a wave long over that. Memsets and copies inside the device fill a sixteenth. An unknown shape, and
/// graphics, fill the device.
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

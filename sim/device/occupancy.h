#pragma once

#include "sim/device/spec.h"
#include "sim/device/work.h"
#include "traces/timeline.h"

namespace corun {

/// A share of the device's throughput in units of 2^-20: kFullRate is that of all SMs.
using SmShare = std::int64_t;
inline constexpr SmShare kAllSms = kFullRate;

/// What throughput an operation asks for while it runs.
struct Occupancy {
  SmShare body = kAllSms;  ///< while more than `tail_work` is left
  SmShare tail = kAllSms;  ///< in its last wave
  Work tail_work = 0;      ///< work of the last wave; 0 = the last wave is full

  SmShare demand(Work work_left) const { return work_left > tail_work ? body : tail; }
};

/// Blocks of one kernel that the whole device holds at once: per SM by threads, registers, shared memory and blocks.
/// 0 if the shape is unknown or one block exceeds an SM.
std::uint64_t resident_blocks(const DeviceSpec& spec, const LaunchShape& shape);

/// Full waves are equally long; a partial last one, which fills a fraction f of the SMs, has f^exponent of the
/// throughput and is f^(1 - exponent) of a wave long. Memsets and copies inside the device fill a sixteenth.
/// An unknown shape, and graphics, fill the device.
Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work);

}  // namespace corun

#pragma once

#include <optional>

#include "sim/run/run.h"

namespace corun {

/// How a stated solo rate was met: factors for the members of ClientSpec that have the same names.
struct SoloFit {
  double host_gap_scale = 1.0;
  double launch_latency_scale = 1.0;
  double device_time_scale = 1.0;
  double reached_per_s = 0.0;  ///< simulated solo rate with them
  bool within_reach = true;    ///< false: no factors come within 1 % of the stated rate; those of the nearest are given
};

/// Finds the factors on a client's recorded times at which its solo rate is `jobs_per_s`, that of the untraced program.
///
/// One rate does not tell three factors: taken are the likeliest ones. What is expected before the rate is known are
/// logarithms that are normally distributed. Of a capture by a tracer: host gaps as recorded, within a third; latencies of
/// launches anywhere (to launch a graph of 158 nodes took 140 us under a tracer and some 5 without); on the device 0.4 us
/// more for every operation, at most 3 %, within 1 % (0.1 to 0.6 us where kernels are short: studies/tracer-overhead),
/// and never less. Of one by a profiler, which slows hosts down: half of the host gaps, within a factor of
/// three, and the device as recorded. So what is bound by its host has its host gaps changed, and what is bound by its
/// device keeps the host time in which it leaves the device to others. Of times that nobody traced
/// (Workload::Tracer::kNone) only host gaps are looked for.
///
/// Each trial is a solo run on `device` without jitter over whole passes of the workload, or as many of its first jobs as
/// hold 2^18 operations; good to 0.02 % of the rate. Where that is out of reach, the device's times stay as recorded, and
/// rates above 99.8 % of what it reaches without any host time are met at 99.8 %.
SoloFit fit_to_solo_rate(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s);

/// Gives the factors to a client of a run on `device`. Under MPS the device's times stay as recorded: kernels of programs
/// alone take 0.1 to 2.6 us longer there, as much as under a tracer (studies/mps-launch-stall).
void apply(const SoloFit& fit, const DeviceSpec& device, ClientSpec& client);

/// From joining to being done, alone on the device with its gate open; nullopt where it is not done within `horizon`.
std::optional<Duration> time_alone(const ClientSpec& client, const DeviceSpec& device, std::uint64_t seed,
                                   Duration horizon);

}  // namespace corun

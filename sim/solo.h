#pragma once

#include <optional>

#include "sim/run.h"

namespace corun {

/// How a stated solo rate was met.
struct HostGapFit {
  double scale = 1.0;          ///< for ClientSpec::host_gap_scale
  double dispatch_scale = 1.0;  ///< for ClientSpec::dispatch_gap_scale; below 1 only where host gaps are not enough
  double latency_scale = 1.0;  ///< for ClientSpec::launch_latency_scale; below 1 only where these are not enough either
  double reached_per_s = 0.0;  ///< simulated solo rate at that scale
  bool within_reach = true;    ///< false: no scale comes within 1 % of the stated rate; `scale` is the nearest
};

/// Finds the factor on a client's host gaps at which its solo rate is `jobs_per_s`.
///
/// A profiler inflates host gaps; the rate of the untraced program tells by how much. Factors in [0, 4] are tried, each in
/// a solo run on `device` without jitter over whole passes of the workload, or as many of its first jobs as hold 2^18
/// operations; good to 0.02 % of the rate. A program bound by its device
/// hides its host time: rates above 99.8 % of what it reaches without any host time are met at 99.8 %.
///
/// A tracer also makes the gaps between queued operations longer, those between the nodes of a CUDA graph above all (10 to 14
/// % of kernels of 2 us, docs/capture.md). Where the stated rate is out of reach by more than 1 %, a factor in [0, 1] on
/// these gaps is looked for in the same way; if none reaches it, they stay as recorded, and one on the latencies of launches is
/// looked for: to launch a graph of 158 nodes took 140 us under a tracer, and some 5 without (measured by steps of 641 us).
HostGapFit fit_host_gap_scale(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s);

/// From joining to being done, alone on the device with its gate open; nullopt where it is not done within `horizon`.
std::optional<Duration> time_alone(const ClientSpec& client, const DeviceSpec& device, std::uint64_t seed,
                                   Duration horizon);

}  // namespace corun

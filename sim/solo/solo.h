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
  /// Where the stated rate is excluded by the recorded device times: the rate that they allow, without any host time
  /// and without what a tracer may have added to them. Otherwise 0.
  double possible_per_s = 0.0;

  /// Gives the factors to a client of a run on `device`. Under MPS device times stay as recorded, since kernels take
  /// about as much longer there as under a tracer (studies/fit).
  void apply_to(ClientSpec& client, const DeviceSpec& device) const;
};

/// Finds the factors on a client's recorded times at which its solo rate is `jobs_per_s`, that of the untraced program.
///
/// One rate cannot determine three factors. The result is the maximum a posteriori estimate under log-normal priors
/// (median, standard deviation of the logarithm, bound; their sources are in studies/fit):
///
///   capture by    host gaps   launch latencies   device times
///   a tracer      1, 0.35     1, 1.5, <= 1       less 0.4 us an operation, at most 3 %; 0.01, <= 1
///   a profiler    0.5, 1.0    1, 1.5, <= 1       1, 0.01, <= 1
///   none          1, 1.0      not fitted         not fitted
///
/// So a program bound by its host has its host gaps changed; one bound by its device keeps the host time in which it
/// leaves the device to others.
///
/// Each trial is a solo run on `device` without jitter over whole passes of the workload, or as many of its first jobs
/// as hold 2^18 operations. The rate is met within 0.02 %. Where no factors meet it within 1 %, only host gaps are
/// fitted; rates above 99.8 % of that without any host time are then met at 99.8 %. Device times at the median of their
/// prior exclude rates more than 2 % above what they allow.
SoloFit fit_to_solo_rate(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s);

/// Jobs a second alone, with every host gap times this factor: whole passes without jitter, as in a fit.
double solo_rate_at(const ClientSpec& client, const DeviceSpec& device, double host_gap_scale);

/// Jobs a second alone, as it is: whole passes without jitter, as in a fit. `expected_per_s` is about what is found.
double solo_rate_near(const ClientSpec& client, const DeviceSpec& device, double expected_per_s);

/// From joining to being done, alone on the device with its gate open; nullopt where it is not done within `horizon`.
/// Throws Interrupted where `interrupt` becomes true.
std::optional<Duration> time_alone(const ClientSpec& client, const DeviceSpec& device, std::uint64_t seed,
                                   Duration horizon, const std::atomic<bool>* interrupt = nullptr);

}  // namespace corun

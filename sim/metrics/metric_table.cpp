#include "sim/metrics/metric_table.h"

#include <algorithm>
#include <iterator>

#include "traces/base/error.h"

namespace corun {

namespace {

using Owner = MetricOwner;

constexpr MetricDescriptor kTable[] = {
    {.name = "fps_mean",
     .unit = "fps",
     .owner = Owner::kFrameClient,
     .better = Better::kMore,
     .noun = "frame rate",
     .meaning = "frames shown per second: n - 1 over the time between the first present and the last"},
    {.name = "fps_1low",
     .unit = "fps",
     .owner = Owner::kFrameClient,
     .better = Better::kMore,
     .noun = "1 % low frame rate",
     .heading = "1% low",
     .meaning = "rate of the mean of the slowest 1 % of frame times (at least one)",
     .definition = "of n frame times the n / 100 longest, rounded down"},
    {.name = "frame_time_mean_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "mean frame time",
     .meaning = "mean frame time, from present to present"},
    {.name = "frame_time_p50_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "median frame time",
     .meaning = "median frame time, from present to present"},
    {.name = "frame_time_p99_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "p99 frame time",
     .heading = "p99 frame",
     .meaning = "99th percentile of frame times, from present to present"},
    {.name = "frame_time_max_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "longest frame time",
     .meaning = "longest frame time, from present to present"},
    {.name = "render_time_p50_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .meaning = "median time from a frame's first submission to the end of its GPU work"},
    {.name = "render_time_p99_ms",
     .unit = "ms",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "p99 render time",
     .heading = "p99 render",
     .meaning = "99th percentile of the time from a frame's first submission to the end of its GPU work"},
    {.name = "missed_frame_ratio",
     .unit = "ratio",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .noun = "missed frames",
     .heading = "missed",
     .meaning = "frames shown later than one period after their start, over the frames shown",
     .definition = "0 without pacing",
     .is_percentage = true},
    {.name = "throughput_per_s",
     .unit = "1/s",
     .owner = Owner::kClient,
     .better = Better::kMore,
     .noun = "throughput",
     .meaning = "jobs (frames, iterations, requests) finished per second: n - 1 over the time between the first end "
                "and the last",
     .definition = "jobs that a kill threw away do not count"},
    {.name = "solo_throughput_per_s",
     .unit = "1/s",
     .owner = Owner::kClient,
     .better = Better::kNeither,
     .heading = "alone",
     .meaning = "throughput alone on the device, with every gate open and the same seed"},
    {.name = "job_time_p50_ms",
     .unit = "ms",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "median time from a job's arrival to the end of its work",
     .definition = "in closed replay, from its begin"},
    {.name = "job_time_p99_ms",
     .unit = "ms",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .noun = "p99 job time",
     .heading = "p99 job",
     .meaning = "99th percentile of the time from a job's arrival to the end of its work",
     .definition = "in closed replay, from its begin"},
    {.name = "job_interval_p50_ms",
     .unit = "ms",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "median time between the ends of successive jobs, in closed replay",
     .definition = "what a program reads that looks at the clock after each step"},
    {.name = "job_interval_p99_ms",
     .unit = "ms",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .noun = "p99 step time",
     .heading = "p99 step",
     .meaning = "99th percentile of the time between the ends of successive jobs, in closed replay",
     .definition = "what a program reads that looks at the clock after each step"},
    {.name = "ttft_p50_ms",
     .unit = "ms",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .noun = "median time to first token",
     .meaning = "median time from a request's arrival to its first token"},
    {.name = "ttft_p99_ms",
     .unit = "ms",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .noun = "p99 time to first token",
     .heading = "p99 TTFT",
     .meaning = "99th percentile of the time from a request's arrival to its first token"},
    {.name = "tpot_p50_ms",
     .unit = "ms",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .noun = "median time per output token",
     .meaning = "median over requests of the mean time between output tokens after the first"},
    {.name = "tpot_p99_ms",
     .unit = "ms",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .noun = "p99 time per output token",
     .heading = "p99 TPOT",
     .meaning = "99th percentile over requests of the mean time between output tokens after the first"},
    {.name = "goodput_per_s",
     .unit = "1/s",
     .owner = Owner::kServer,
     .better = Better::kMore,
     .noun = "goodput",
     .heading = "goodput",
     .meaning = "requests answered per second that kept the stated service level (`slo`)",
     .definition = "absent where none is stated"},
    {.name = "tokens_per_s",
     .unit = "1/s",
     .owner = Owner::kServer,
     .better = Better::kMore,
     .noun = "output tokens",
     .meaning = "output tokens per second of the requests answered"},
    {.name = "queue_mean",
     .unit = "count",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .meaning = "requests that wait to be admitted, mean over the time of steps"},
    {.name = "batch_mean",
     .unit = "count",
     .owner = Owner::kServer,
     .better = Better::kNeither,
     .meaning = "sequences that a decode gives a token to, mean over the time of decodes"},
    {.name = "kv_used_ratio",
     .unit = "ratio",
     .owner = Owner::kServer,
     .better = Better::kNeither,
     .meaning = "part of the KV cache that is reserved, mean over the time of steps",
     .is_percentage = true},
    {.name = "rejected",
     .unit = "count",
     .owner = Owner::kServer,
     .better = Better::kLess,
     .meaning = "requests turned away because the queue was full",
     .counts_from_zero = true},
    {.name = "wait_p99_ms",
     .unit = "ms",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .noun = "p99 wait",
     .meaning =
         "99th percentile of the time from an operation's submission to its begin on the device: gate and queue"},
    {.name = "slowdown",
     .unit = "ratio",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "throughput alone over throughput",
     .definition = "absent where nothing was finished"},
    {.name = "harvest_ratio",
     .unit = "ratio",
     .owner = Owner::kDevice,
     .better = Better::kMore,
     .noun = "harvest",
     .heading = "harvest",
     .meaning =
         "device time of the best-effort clients over the time that the interactive clients leave idle when alone",
     .definition = "without what kills threw away; above 1 where the policy slows the interactive clients down; absent "
                   "without both kinds of clients",
     .is_percentage = true},
    {.name = "gpu_busy_ratio",
     .unit = "ratio",
     .owner = Owner::kClientAndDevice,
     .better = Better::kNeither,
     .meaning = "device time over elapsed time",
     .is_percentage = true},
    {.name = "switch_ratio",
     .unit = "ratio",
     .owner = Owner::kDevice,
     .better = Better::kLess,
     .meaning = "time between contexts over elapsed time",
     .is_percentage = true},
    {.name = "players_served",
     .unit = "count",
     .owner = Owner::kDevice,
     .better = Better::kMore,
     .meaning = "interactive clients with frames that were not refused and whose fps_mean is 30 less 3 % or more"},
    {.name = "players_refused",
     .unit = "count",
     .owner = Owner::kDevice,
     .better = Better::kLess,
     .meaning = "interactive clients with frames that were refused"},
    {.name = "fps_min",
     .unit = "fps",
     .owner = Owner::kDevice,
     .better = Better::kMore,
     .noun = "frame rate of the slowest game",
     .meaning = "least fps_mean of the interactive clients with frames that were not refused"},
    {.name = "quality_mean",
     .unit = "ratio",
     .owner = Owner::kFrameClient,
     .better = Better::kMore,
     .noun = "mean quality",
     .heading = "quality",
     .meaning = "mean quality of the frames shown"},
    {.name = "quality_nines",
     .unit = "ratio",
     .owner = Owner::kFrameClient,
     .better = Better::kMore,
     .meaning = "-log10(1 - quality_mean), at most 6: 0.9 is 1, 0.99 is 2"},
    {.name = "quality_min",
     .unit = "ratio",
     .owner = Owner::kFrameClient,
     .better = Better::kMore,
     .meaning = "least quality of the frames shown"},
    {.name = "quality_changes_per_s",
     .unit = "1/s",
     .owner = Owner::kFrameClient,
     .better = Better::kLess,
     .meaning = "frames at another quality level than the frame before, per second"},
    {.name = "paging_ratio",
     .unit = "ratio",
     .owner = Owner::kDevice,
     .better = Better::kLess,
     .meaning = "time stalled on memory that had been evicted, over elapsed time",
     .counts_from_zero = true},
    {.name = "energy_per_job_j",
     .unit = "J",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .noun = "energy per job",
     .heading = "J/job",
     .meaning = "energy per finished job",
     .definition = "what its operations take above the device's idle power, and of that a part by device time; absent "
                   "where the client's draw is not known"},
    {.name = "power_w",
     .unit = "W",
     .owner = Owner::kDevice,
     .better = Better::kNeither,
     .noun = "power",
     .heading = "power",
     .meaning = "mean power of the device",
     .definition = "absent where a client's draw is not known"},
    {.name = "sm_clock_mhz",
     .unit = "MHz",
     .owner = Owner::kDevice,
     .better = Better::kMore,
     .noun = "clock",
     .heading = "clock",
     .meaning = "mean clock of the SMs, which the power limit lowers",
     .definition = "absent where a client's draw is not known"},
    {.name = "lost_ratio",
     .unit = "ratio",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "device time that kills threw away, over elapsed time",
     .counts_from_zero = true},
    {.name = "kills",
     .unit = "count",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "how often the client was killed",
     .counts_from_zero = true},
    {.name = "refused",
     .unit = "count",
     .owner = Owner::kClient,
     .better = Better::kLess,
     .meaning = "1 for a client that was turned away with an error",
     .definition = "its frame metrics are over the time before",
     .counts_from_zero = true},
    {.name = "allocated_ratio",
     .unit = "ratio",
     .owner = Owner::kCluster,
     .better = Better::kMore,
     .heading = "allocated",
     .meaning = "compute promised to pods over all compute",
     .definition = "mean over the time of arrivals",
     .is_percentage = true},
    {.name = "allocated_peak_ratio",
     .unit = "ratio",
     .owner = Owner::kCluster,
     .better = Better::kNeither,
     .heading = "peak",
     .meaning = "most compute promised to pods at once, over all compute",
     .is_percentage = true},
    {.name = "fragmented_ratio",
     .unit = "ratio",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "fragmented",
     .meaning =
         "free compute that a pod drawn from the workload can be expected not to be able to use, over all compute",
     .definition = "mean over the time of arrivals",
     .is_percentage = true},
    {.name = "pod_wait_mean_s",
     .unit = "s",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "wait",
     .meaning = "mean time from arrival to start, of pods that started"},
    {.name = "pod_wait_p99_s",
     .unit = "s",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "p99 wait",
     .meaning = "99th percentile of the time from arrival to start, of pods that started"},
    {.name = "pod_time_mean_s",
     .unit = "s",
     .owner = Owner::kClusterAndClient,
     .better = Better::kLess,
     .heading = "pod time",
     .meaning = "mean time from arrival to end, of pods that finished"},
    {.name = "pod_time_p99_s",
     .unit = "s",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .meaning = "99th percentile of the time from arrival to end, of pods that finished"},
    {.name = "pods_started",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kMore,
     .heading = "started",
     .meaning = "pods that ever started"},
    {.name = "pods_waiting",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "waiting",
     .meaning = "pods not started by the end, those yet to arrive included"},
    {.name = "pods_rejected",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "rejected",
     .meaning = "pods that fit on no empty node"},
    {.name = "pods_failed",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .heading = "failed",
     .meaning = "pods that the allocator refused, or whose program was answered with an error"},
    {.name = "slowdown_mean",
     .unit = "ratio",
     .owner = Owner::kClusterAndClient,
     .better = Better::kLess,
     .heading = "slowdown",
     .meaning = "mean time on the card over the time alone on an idle one, of pods that finished their client's work"},
    {.name = "stale_configs_mean",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .meaning = "mean number of configurations left by pods that have gone, until they are collected",
     .definition = "from the first arrival to the end"},
    {.name = "stale_configs_peak",
     .unit = "count",
     .owner = Owner::kCluster,
     .better = Better::kLess,
     .meaning = "most configurations left by pods that have gone"},
    {.name = "progress_ratio",
     .unit = "ratio",
     .owner = Owner::kClient,
     .better = Better::kMore,
     .meaning = "jobs finished over those that the client finishes in the same time alone: what it got of the whole "
                "run, pauses included",
     .definition = "jobs that a kill threw away do not count"},
};

}  // namespace

std::string_view to_string(MetricOwner owner) {
  switch (owner) {
    case Owner::kFrameClient:
      return "client with frames";
    case Owner::kServer:
      return "server";
    case Owner::kClient:
      return "client";
    case Owner::kClientAndDevice:
      return "client and device";
    case Owner::kDevice:
      return "device";
    case Owner::kCluster:
      return "cluster";
    case Owner::kClusterAndClient:
      return "cluster and client";
  }
  return "";
}

std::string_view to_string(Better better) {
  switch (better) {
    case Better::kMore:
      return "more";
    case Better::kLess:
      return "less";
    case Better::kNeither:
      return "neither";
  }
  return "";
}

std::span<const MetricDescriptor> metric_table() { return kTable; }

const MetricDescriptor* find_metric(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &MetricDescriptor::name);
  return found == std::end(kTable) ? nullptr : &*found;
}

const MetricDescriptor* metric_called(std::string_view text) {
  static constexpr std::string_view kEndings[] = {"_ms", "_ratio", "_per_s", "_mean"};
  const auto fits = [&](const MetricDescriptor& metric) {
    return metric.name == text || std::ranges::any_of(kEndings, [&](std::string_view ending) {
             return metric.name.ends_with(ending) && metric.name.substr(0, metric.name.size() - ending.size()) == text;
           });
  };
  const auto found = std::ranges::find_if(kTable, fits);
  return found == std::end(kTable) ? nullptr : &*found;
}

const MetricDescriptor& metric_named(std::string_view name) {
  const MetricDescriptor* metric = find_metric(name);
  CORUN_ASSERT(metric != nullptr, "{} has no row in the table of metrics", name);
  return *metric;
}

Metric make_metric(std::string client, std::string_view name, double value) {
  return {std::move(client), std::string(name), value, std::string(metric_named(name).unit)};
}

bool is_better_small(std::string_view name, std::string_view unit) {
  if (const MetricDescriptor* metric = find_metric(name)) return metric->better == Better::kLess;
  return unit == "ms" || unit == "s" || unit == "ns";
}

bool counts_from_zero(std::string_view name) {
  const MetricDescriptor* metric = find_metric(name);
  return metric != nullptr && metric->counts_from_zero;
}

}  // namespace corun

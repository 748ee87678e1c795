#pragma once

#include <string_view>

/// Which metrics are shown where only a few are, in the order of display. Names are those of the metric table.
namespace corun::headlines {

struct Column {
  std::string_view metric;
  bool has_interval = true;  ///< the 95 % interval over the seeds is printed too
};

/// The closing table of a run, behind policy, client and rate. The rate is fps_mean of a client with frames and
/// throughput_per_s of any other.
inline constexpr Column kRun[] = {{"solo_throughput_per_s", false},
                                  {"fps_1low"},
                                  {"frame_time_p99_ms"},
                                  {"render_time_p99_ms", false},
                                  {"missed_frame_ratio", false},
                                  {"quality_mean", false},
                                  {"ttft_p99_ms"},
                                  {"tpot_p99_ms"},
                                  {"goodput_per_s", false},
                                  {"energy_per_job_j", false},
                                  {"power_w", false},
                                  {"sm_clock_mhz", false},
                                  {"harvest_ratio"}};

/// The closing table of a cluster, behind the policy; the last one only where pods do the work of clients.
inline constexpr std::string_view kCluster[] = {"allocated_ratio", "allocated_peak_ratio", "fragmented_ratio",
                                                "pod_wait_mean_s", "pod_wait_p99_s",       "pod_time_mean_s",
                                                "pods_started",    "pods_waiting",         "pods_rejected",
                                                "pods_failed",     "slowdown_mean"};

/// The closing table of a sweep.
inline constexpr std::string_view kSweep[] = {"fps_mean",         "fps_1low",      "missed_frame_ratio",
                                              "throughput_per_s", "harvest_ratio", "slowdown",
                                              "ttft_p99_ms",      "tpot_p99_ms",   "goodput_per_s"};

/// `simcli compare` without --metric.
inline constexpr std::string_view kCompare[] = {"throughput_per_s", "fps_1low", "frame_time_p99_ms", "harvest_ratio"};

/// The table of a report, behind policy, client and rate.
inline constexpr std::string_view kReport[] = {
    "solo_throughput_per_s", "fps_1low",     "frame_time_p99_ms", "render_time_p99_ms",
    "missed_frame_ratio",    "quality_mean", "job_time_p99_ms",   "job_interval_p99_ms",
    "harvest_ratio",         "ttft_p99_ms",  "tpot_p99_ms",       "goodput_per_s",
    "energy_per_job_j",      "power_w",      "sm_clock_mhz"};

/// What a report of very many settings keeps: what its table and its figures draw.
inline constexpr std::string_view kDrawn[] = {"fps_mean",
                                              "throughput_per_s",
                                              "solo_throughput_per_s",
                                              "fps_1low",
                                              "frame_time_p99_ms",
                                              "render_time_p99_ms",
                                              "missed_frame_ratio",
                                              "quality_mean",
                                              "harvest_ratio",
                                              "slowdown",
                                              "progress_ratio",
                                              "gpu_busy_ratio",
                                              "switch_ratio",
                                              "paging_ratio",
                                              "fps_min",
                                              "refused"};

/// The summary that Python shows of a results file.
inline constexpr std::string_view kSummary[] = {
    "fps_mean",         "fps_1low",    "frame_time_p99_ms", "missed_frame_ratio",  "quality_mean",
    "throughput_per_s", "slowdown",    "job_time_p99_ms",   "job_interval_p99_ms", "harvest_ratio",
    "ttft_p99_ms",      "tpot_p99_ms", "goodput_per_s",     "energy_per_job_j",    "power_w",
    "sm_clock_mhz"};

}  // namespace corun::headlines

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/metrics/metric.h"
#include "sim/run/run.h"
#include "traces/base/short_numbers.h"

namespace corun {

/// What a client got when it had the device to itself: the yardstick of slowdown and harvest.
struct SoloBaseline {
  double throughput_per_s = 0.0;   ///< jobs finished per second; 0 = not known
  double device_busy_ratio = 0.0;  ///< its device time per elapsed time
};

/// Turns the facts of one run into metrics. Counts what ends in [warmup, end); rates and frame times of a client are
/// over the part of it from the client's arrival until it has done all it came for.
///
/// fps_mean is throughput of frames shown; fps_1low the rate of the mean of the slowest 1 % of frame times (at least
/// one); frame times are present to present; render_time is a frame's first submission to the end of its GPU work;
/// missed_frame_ratio is misses over frames; throughput_per_s is (n - 1) jobs over the time between the first and the
/// last end, or n over the window where n < 2; a quiet stretch at either end of the window counts as an interval, here
/// and in frame times, where it is longer than every interval between; job_time is arrival to end; wait_p99_ms is the
/// 99th percentile of launch-gate plus device waiting per operation (begin - submitted); slowdown is solo throughput
/// over own throughput; harvest_ratio is the device time of the best-effort clients over the device time that the
/// interactive clients leave idle when alone; what a kill threw away counts as lost and not as harvested (kills,
/// lost_ratio); refused says that a client was turned away with an error: its frame rates and times are over the part
/// of it before that, and absent where there is none. quality_nines is -log10(1 - quality_mean), at most 6; quality_min
/// is the least of any frame; quality_changes_per_s counts changes of level. Of the interactive clients that show
/// frames, players_served counts those not refused that reach an fps_mean of 30 less 3 %, players_refused those
/// refused, and fps_min is the least fps_mean of those not refused. Device-wide gpu_busy_ratio and switch_ratio are
/// over the window. Quantiles are exact order statistics (nearest rank).
class Collector : public Recorder {
 public:
  explicit Collector(const RunInput& input);

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override;
  void on_frame(const FrameFact& frame) override;
  void on_refusal(const RefusalFact& refusal) override;
  void on_kill(const KillFact& kill) override;

  /// `solo` by client, in order; empty where no baseline was made (slowdown and harvest are then absent).
  std::vector<Metric> metrics(const RunResult& result, const std::vector<SoloBaseline>& solo) const;
  /// What this run says about client `index` as a baseline of others.
  SoloBaseline baseline(const RunResult& result, std::size_t index) const;

 private:
  struct Series {
    ShortNumbers wait_ns;
    std::vector<Time> job_ends;
    std::vector<std::int64_t> job_latency_ns;
    std::vector<FrameFact> frames;
    std::uint64_t kills = 0;
    Duration lost{};
    Time refused_at = kNever;
  };
  double harvest(const RunResult& result, const std::vector<SoloBaseline>& solo, Duration window) const;
  const RunInput& input_;
  std::vector<Series> series_;
};

}  // namespace corun

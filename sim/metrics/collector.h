#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/metrics/metric.h"
#include "sim/run/run.h"
#include "traces/base/ranked_numbers.h"

namespace corun {

/// What a client got when it had the device to itself: the yardstick of slowdown and harvest.
struct SoloBaseline {
  double throughput_per_s = 0.0;   ///< jobs finished per second; 0 or NaN = not known
  double device_busy_ratio = 0.0;  ///< its device time per elapsed time
};

class Sheet;
struct Presence;

/// Turns the facts of one run into the client and device metrics of the metric table, which defines each. Counts what
/// ends in [warmup, end). Rates and frame times of a client are over the part of it in which the client has work: from
/// its arrival until it has done all it came for; frame metrics end where it is turned away. A stretch at either end of
/// that part in which the client shows or finishes nothing counts as an interval where it is longer than every interval
/// between. Ratios of elapsed time are over the whole window. Quantiles are exact order statistics (nearest rank).
class Collector : public Recorder {
 public:
  explicit Collector(const RunInput& input);

  void on_op(const OpFact& op) override;
  void on_job(const JobFact& job) override;
  void on_frame(const FrameFact& frame) override;
  void on_request(const RequestFact& request) override;
  void on_server_step(const ServerStepFact& step) override;
  void on_refusal(const RefusalFact& refusal) override;
  void on_kill(const KillFact& kill) override;

  /// `solo` by client, in order; empty where no baseline was made (slowdown and harvest are then absent).
  std::vector<Metric> metrics(const RunResult& result, const std::vector<SoloBaseline>& solo) const;
  /// What this run says about client `index` as a baseline of others.
  SoloBaseline baseline(const RunResult& result, std::size_t index) const;

 private:
  /// Sums over the steps of a server, weighted by their lengths.
  struct ServerUse {
    double step_ns = 0, waiting = 0, kv_tokens = 0;
    double decoded = 0, decode_ns = 0;  ///< steps that decode: sequences
    std::uint64_t rejected = 0, rejected_before = 0;
  };
  struct Series {
    RankedNumbers wait_ns;
    std::vector<Time> job_ends;
    std::vector<std::int64_t> job_latency_ns;
    std::vector<FrameFact> frames;
    std::vector<RequestFact> requests;
    ServerUse server;
    std::uint64_t kills = 0;
    Duration lost{};
    Time refused_at = kNever;
  };
  static void add_serving(Sheet& sheet, const ServerSpec& server, const Series& series, const Presence& present);
  double harvest(const RunResult& result, const std::vector<SoloBaseline>& solo, Duration window) const;
  bool has_energy(const RunResult& result, const ClientSpec& client) const;
  double energy_j(const RunResult& result, std::size_t index, Duration window) const;
  void add_power(Sheet& device, const RunResult& result, Duration window) const;
  const RunInput& input_;
  std::vector<Series> series_;
};

}  // namespace corun

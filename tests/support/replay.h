#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/open_gates.h"
#include "sim/run/run.h"
#include "sim/workload/workload.h"
#include "traces/reader.h"

namespace corun::testing {

/// Keeps every fact of a run.
class Facts : public Recorder {
 public:
  void on_op(const OpFact& op) override { ops.push_back(op); }
  void on_job(const JobFact& job) override { jobs.push_back(job); }
  void on_frame(const FrameFact& frame) override { frames.push_back(frame); }
  void on_decision(const DecisionFact& decision) override { decisions.push_back(decision); }

  /// Jobs per second of a client, between the first and the last that ended after `from`.
  double rate(ClientId client, Time from) const {
    Time first = kNever, last = kRunStart;
    std::int64_t count = -1;
    for (const JobFact& job : jobs) {
      if (job.client != client || job.end < from) continue;
      first = std::min(first, job.end);
      last = std::max(last, job.end);
      ++count;
    }
    return count > 0 ? static_cast<double>(count) / to_seconds(last - first) : 0.0;
  }

  std::vector<OpFact> ops;
  std::vector<JobFact> jobs;
  std::vector<FrameFact> frames;
  std::vector<DecisionFact> decisions;
};

inline std::shared_ptr<const Workload> load_workload(const std::string& path, const WorkloadOptions& options = {}) {
  return std::make_shared<Workload>(workload_from_capture(load_compact(path), options));
}

/// Runs clients with open gates and gives back the facts.
inline Facts run_open(const DeviceSpec& device, std::vector<ClientSpec> clients, Duration horizon,
                      std::uint64_t seed = 1, RunResult* result = nullptr) {
  OpenGates policy;
  RunInput input{device, std::move(clients), &policy, "open", horizon, Duration{0}, seed};
  Facts facts;
  const RunResult outcome = simulate(input, facts);
  if (result != nullptr) *result = outcome;
  return facts;
}

}  // namespace corun::testing

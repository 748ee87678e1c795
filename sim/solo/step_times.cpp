#include "sim/solo/step_times.h"

#include <algorithm>
#include <cmath>

#include "sim/solo/solo.h"
#include "sim/workload/scaled.h"

namespace corun {

namespace {

// Of what a recorder adds to a step, delays of launches go first: they are up to a millisecond where it notes every
// kernel of a graph. A host never does without a fiftieth of them. Device times then are too long by some per cent.
constexpr double kLeastHost = 0.02, kMostHost = 3, kLeastDevice = 0.85, kNear = 0.001;

/// Those jobs of a workload alone, one after another. Jobs of an engine wait for nothing of other jobs.
Workload only(const Workload& all, const std::vector<std::size_t>& jobs) {
  Workload own;
  own.job_kind = JobKind::kIteration;
  own.tracer = all.tracer;
  own.names = all.names;
  own.sm_curves = all.sm_curves;
  for (const std::size_t number : jobs) {
    const Job& job = all.jobs[number];
    Job copy = job;
    copy.first_step = static_cast<std::uint32_t>(own.steps.size());
    copy.first_op = static_cast<std::uint32_t>(own.ops.size());
    for (std::uint32_t i = 0; i < job.op_count; ++i) {
      WorkOp op = all.ops[job.first_op + i];
      const auto begin = static_cast<std::uint32_t>(own.awaits.size());
      for (std::uint32_t a = op.awaits_begin; a < op.awaits_begin + op.awaits_count; ++a)
        own.awaits.push_back(all.awaits[a] - job.first_op + copy.first_op);
      op.awaits_begin = begin;
      own.ops.push_back(op);
    }
    for (std::uint32_t i = 0; i < job.step_count; ++i) {
      HostStep step = all.steps[job.first_step + i];
      if (step.kind == StepKind::kSubmit || step.kind == StepKind::kWaitOp) step.target += copy.first_op - job.first_op;
      own.steps.push_back(step);
    }
    own.jobs.push_back(copy);
    own.recorded_span += own.device_time(copy);
  }
  return own;
}

/// Factors of a step's host time (gaps and launch latencies) and of its device time.
struct Factors {
  double host = 1.0, device = 1.0;
};

/// The steps of one size, which their engine's host begins one after another.
class StepsOfASize {
 public:
  StepsOfASize(const ClientSpec& engine, const DeviceSpec& device, const std::vector<std::size_t>& jobs)
      : steps_(engine), device_(device) {
    steps_.server.reset();
    steps_.workload = std::make_shared<Workload>(only(*engine.workload, jobs));
    steps_.pacing.mode = Pacing::Mode::kSyncEachJob;
  }

  double seconds(const Factors& factors) {
    steps_.host_gap_scale = steps_.launch_latency_scale = factors.host;
    steps_.device_time_scale = factors.device;
    return 1 / solo_rate_near(steps_, device_, expected_per_s());
  }

  /// Host and device take turns in a step, so that its time is about linear in either factor.
  Factors factors_for(double wanted_s) {
    const double recorded_s = seconds({}), without_host_s = seconds({.host = 0});
    const double host_s = recorded_s - without_host_s;
    Factors factors;
    if (host_s > 0) factors.host = std::max(kLeastHost, (wanted_s - without_host_s) / host_s);
    const double reached_s = seconds(factors);
    if (reached_s > wanted_s * (1 + kNear)) factors.device = 1 - (reached_s - wanted_s) / without_host_s;
    return factors;
  }

 private:
  double expected_per_s() const {
    const Workload& workload = *steps_.workload;
    return static_cast<double>(workload.jobs.size()) / to_seconds(std::max(workload.recorded_span, Duration{1}));
  }

  ClientSpec steps_;
  const DeviceSpec& device_;
};

void apply(const Factors& factors, const std::vector<std::size_t>& jobs, std::vector<Factors>& by_job) {
  for (const std::size_t job : jobs) by_job[job] = factors;
}

void rescale(Workload& workload, const std::vector<Factors>& by_job) {
  std::size_t index = 0, job = 0;
  workload.ops.change([&](WorkOp& op) {
    while (index >= workload.jobs[job].first_op + workload.jobs[job].op_count) ++job;
    ++index;
    op.duration = scaled(op.duration, by_job[job].device);
    op.dispatch_gap = scaled(op.dispatch_gap, by_job[job].device);
    op.launch_latency = scaled(op.launch_latency, by_job[job].host);
  });
  job = 0;
  workload.steps.change_gaps([&](std::size_t step, Duration gap) {
    while (step >= workload.jobs[job].first_step + workload.jobs[job].step_count) ++job;
    return scaled(gap, by_job[job].host);
  });
}

std::map<StepSize, std::vector<std::size_t>> jobs_by_size(const ClientSpec& engine) {
  std::map<StepSize, std::vector<std::size_t>> jobs;
  for (const CapturedStep& step : engine.captured_steps()) jobs[step.size].push_back(step.job);
  return jobs;
}

}  // namespace

StepTimesFit fit_to_step_times(const ClientSpec& engine, const DeviceSpec& device,
                               const std::map<StepSize, Duration>& times) {
  StepTimesFit fit;
  auto workload = std::make_shared<Workload>(*engine.workload);
  std::vector<Factors> by_job(workload->jobs.size());
  for (const auto& [size, jobs] : jobs_by_size(engine)) {
    const auto time = times.find(size);
    if (time == times.end()) {
      fit.unknown.push_back(size);
      continue;
    }
    const Factors factors = StepsOfASize(engine, device, jobs).factors_for(to_seconds(time->second));
    if (factors.device < kLeastDevice || factors.host > kMostHost) fit.out_of_reach.push_back(size);
    apply(factors, jobs, by_job);
  }
  rescale(*workload, by_job);
  predict_from_means(*workload);
  fit.workload = std::move(workload);
  return fit;
}

}  // namespace corun

#include "sim/solo.h"

#include <algorithm>
#include <cmath>

#include "sim/simulation.h"

namespace corun {

namespace {

constexpr double kLargestScale = 4.0;
constexpr double kTolerance = 2e-4;
// At its fastest a program is bound by its device, and its rate says nothing of its host time; a little below it does.
constexpr double kTellsHostTime = 0.998;
constexpr double kNearEnough = 0.01;
constexpr std::uint64_t kMeasuredJobs = 30, kWarmJobs = 3;
constexpr std::uint64_t kMostOperations = 1 << 18;  // of a probe; a longer capture is judged by its first jobs

class OpenGates : public Policy {
 public:
  Hears hears() const override { return Hears{false, false, false, false}; }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
  }
};

class JobEnds : public Recorder {
 public:
  void on_job(const JobFact& job) override { ends.push_back(job.end); }
  std::vector<Time> ends;
};

/// Jobs that a probe counts: whole passes over the workload, since its jobs may differ.
std::uint64_t jobs_to_count(const Workload& workload) {
  const std::uint64_t pass = workload.jobs.size();
  const std::uint64_t most =
      std::max(kMeasuredJobs, kMostOperations * pass / std::max<std::uint64_t>(workload.ops.size(), 1));
  return std::min(most, pass * ((kMeasuredJobs + pass - 1) / pass));
}

double solo_rate(ClientSpec client, const DeviceSpec& device, double expected_per_s) {
  const std::uint64_t wanted = jobs_to_count(*client.workload);
  OpenGates policy;
  const double seconds = 1.5 * static_cast<double>(kWarmJobs + wanted + 1) / expected_per_s;
  RunInput input{device, {std::move(client)}, &policy, "solo", Duration{std::llround(seconds * 1e9)}, {}, 1};
  JobEnds jobs;
  simulate(input, jobs);
  if (jobs.ends.size() < kWarmJobs + 2) return static_cast<double>(jobs.ends.size()) / seconds;
  const std::size_t counted = std::min<std::size_t>(wanted, jobs.ends.size() - 1 - kWarmJobs);
  return static_cast<double>(counted) / to_seconds(jobs.ends[kWarmJobs + counted] - jobs.ends[kWarmJobs]);
}

bool is_near(double reached_per_s, double stated_per_s) {
  return std::abs(reached_per_s / stated_per_s - 1) < kNearEnough;
}

/// For a client whose device is too slow as it was recorded: a factor below 1 on some of its times. Whether it is enough.
bool fit_recorded_times(ClientSpec steady, double ClientSpec::*of_client, double HostGapFit::*of_fit,
                        const DeviceSpec& device, double jobs_per_s, HostGapFit& fit) {
  steady.host_gap_scale = fit.scale;
  const auto rate = [&](double scale) {
    steady.*of_client = scale;
    return solo_rate(steady, device, jobs_per_s);
  };
  double low = 0.0, high = 1.0;
  if (rate(low) < jobs_per_s * (1 - kNearEnough)) return false;
  HostGapFit shorter = fit;
  for (int i = 0; i < 12; ++i) {
    shorter.*of_fit = (low + high) / 2;
    shorter.reached_per_s = rate(shorter.*of_fit);
    (shorter.reached_per_s > jobs_per_s ? low : high) = shorter.*of_fit;
  }
  shorter.within_reach = is_near(shorter.reached_per_s, jobs_per_s);
  if (shorter.within_reach) fit = shorter;
  return shorter.within_reach;
}

}  // namespace

HostGapFit fit_host_gap_scale(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s) {
  ClientSpec steady = client;
  steady.host_jitter = steady.duration_jitter = 0.0;
  steady.random_phase = false;
  steady.arrival = Duration{0};
  steady.repeat = 0;
  const auto rate = [&](double scale) {
    steady.host_gap_scale = scale;
    return solo_rate(steady, device, jobs_per_s);
  };
  const double fastest = rate(0.0);
  const double target = std::min(jobs_per_s, kTellsHostTime * fastest);
  HostGapFit fit{.reached_per_s = rate(1.0)};
  // The time of a job grows with the factor in nearly straight pieces: false position, which halves where that fails.
  const auto too_long = [&](double reached) { return 1 / reached - 1 / target; };
  double low = 0.0, high = 1.0, below = too_long(fastest), above = too_long(fit.reached_per_s);
  while (above < 0 && high < kLargestScale) {
    low = high, below = above, high *= 2;
    fit = HostGapFit{.scale = high, .reached_per_s = rate(high)};
    above = too_long(fit.reached_per_s);
  }
  const auto is_met = [&] { return std::abs(fit.reached_per_s / target - 1) < kTolerance; };
  for (int i = 0; i < 30 && above > 0 && !is_met(); ++i) {
    fit.scale = i % 3 == 2 ? (low + high) / 2 : low + (high - low) * below / (below - above);
    fit.reached_per_s = rate(fit.scale);
    const double excess = too_long(fit.reached_per_s);
    (excess < 0 ? low : high) = fit.scale;
    (excess < 0 ? below : above) = excess;
  }
  fit.within_reach = is_near(fit.reached_per_s, jobs_per_s);
  if (fit.within_reach || fit.reached_per_s > jobs_per_s) return fit;
  if (!fit_recorded_times(steady, &ClientSpec::dispatch_gap_scale, &HostGapFit::dispatch_scale, device, jobs_per_s, fit))
    fit_recorded_times(steady, &ClientSpec::launch_latency_scale, &HostGapFit::latency_scale, device, jobs_per_s, fit);
  return fit;
}

std::optional<Duration> time_alone(const ClientSpec& client, const DeviceSpec& device, std::uint64_t seed,
                                   Duration horizon) {
  OpenGates policy;
  const RunInput input{device, {client}, &policy, "solo", horizon, {}, seed};
  Engine engine;
  Recorder nobody;
  std::optional<Duration> time;
  Simulation simulation(input, engine, nobody, [&](ClientId) { time = engine.now() - kRunStart; });
  simulation.join(ClientId{0});
  engine.run(kRunStart + horizon);
  return time;
}

}  // namespace corun

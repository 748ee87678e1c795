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

double solo_rate(ClientSpec client, const DeviceSpec& device, double scale, double expected_per_s) {
  client.host_gap_scale = scale;
  OpenGates policy;
  const double seconds = 3.0 * static_cast<double>(kWarmJobs + kMeasuredJobs) / expected_per_s;
  RunInput input{device, {std::move(client)}, &policy, "solo", Duration{std::llround(seconds * 1e9)}, {}, 1};
  JobEnds jobs;
  simulate(input, jobs);
  if (jobs.ends.size() < kWarmJobs + 2) return static_cast<double>(jobs.ends.size()) / seconds;
  // Whole passes over the workload, so that unequal jobs weigh as they do in a long run.
  const std::size_t pass = input.clients.front().workload->jobs.size();
  const std::size_t available = jobs.ends.size() - 1 - kWarmJobs;
  const std::size_t counted = available >= pass ? available / pass * pass : available;
  const Time last = jobs.ends[kWarmJobs + counted];
  return static_cast<double>(counted) / to_seconds(last - jobs.ends[kWarmJobs]);
}

}  // namespace

HostGapFit fit_host_gap_scale(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s) {
  ClientSpec steady = client;
  steady.host_jitter = steady.duration_jitter = 0.0;
  steady.random_phase = false;
  steady.arrival = Duration{0};
  steady.repeat = 0;
  const auto rate = [&](double scale) { return solo_rate(steady, device, scale, jobs_per_s); };
  double low = 0.0, high = kLargestScale;
  const double fastest = rate(low), slowest = rate(high);
  const double target = std::clamp(jobs_per_s, slowest, std::max(slowest, kTellsHostTime * fastest));
  HostGapFit fit{high, slowest, true};
  for (int i = 0; i < 30 && std::abs(fit.reached_per_s / target - 1) >= kTolerance; ++i) {
    fit.scale = (low + high) / 2;
    fit.reached_per_s = rate(fit.scale);
    (fit.reached_per_s > target ? low : high) = fit.scale;
  }
  fit.within_reach = std::abs(fit.reached_per_s / jobs_per_s - 1) < kNearEnough;
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

#include "sim/solo/solo.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/run/open_gates.h"
#include "sim/run/simulation.h"

namespace corun {

namespace {

constexpr double kTolerance = 2e-4;
constexpr double kNearEnough = 0.01;
// At its fastest a program is bound by its device, and its rate says nothing of its host time; a little below it does.
constexpr double kTellsHostTime = 0.998;
// Rates may exceed what recorded device times allow by this much: two standard deviations of their prior.
constexpr double kBeyondDeviceTimes = 1.02;
constexpr std::uint64_t kMeasuredJobs = 30, kWarmJobs = 3;
constexpr double kLongest_s = 1e9;
constexpr std::uint64_t kMostOperations = 1 << 18;  // of a probe; a longer capture is judged by its first jobs

/// Ends a run once so many jobs have.
class JobEnds : public Recorder {
 public:
  JobEnds(Engine& engine, std::uint64_t wanted) : engine_(engine), wanted_(wanted) {}

  void on_job(const JobFact& job) override {
    ends.push_back(job.end);
    if (ends.size() == wanted_) engine_.stop();
  }
  std::vector<Time> ends;

 private:
  Engine& engine_;
  const std::uint64_t wanted_;
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
  const double seconds = std::min(kLongest_s, 1.5 * static_cast<double>(kWarmJobs + wanted + 1) / expected_per_s);
  const RunInput input{.device = device,
                       .clients = {std::move(client)},
                       .policy = &policy,
                       .policy_name = "solo",
                       .horizon = Duration{std::llround(seconds * 1e9)}};
  Engine engine;
  JobEnds jobs(engine, kWarmJobs + wanted + 1);
  Simulation simulation(input, engine, jobs);
  simulation.schedule();
  if (engine.run(kRunStart + input.horizon) != StopReason::kStopped) simulation.finish();
  if (jobs.ends.size() < kWarmJobs + 2) return static_cast<double>(jobs.ends.size()) / seconds;
  const std::size_t counted = std::min<std::size_t>(wanted, jobs.ends.size() - 1 - kWarmJobs);
  return static_cast<double>(counted) / to_seconds(jobs.ends[kWarmJobs + counted] - jobs.ends[kWarmJobs]);
}

/// The same where nothing near it is expected: probes become longer until jobs end in them.
double solo_rate(const ClientSpec& client, const DeviceSpec& device) {
  constexpr double kRarest_per_s = 1e-5;  // a job a day
  const Duration span = std::max(client.workload->recorded_span, Duration{1000});
  double expected_per_s = static_cast<double>(client.workload->jobs.size()) / to_seconds(span);
  double found = 0;
  for (; expected_per_s > kRarest_per_s; expected_per_s /= 8) {
    found = solo_rate(client, device, expected_per_s);
    if (found > 0.5 * expected_per_s) break;
  }
  return found;
}

/// What is expected of a factor before the rate is known: its logarithm is normally distributed.
struct Prior {
  double expected;
  double spread;  ///< standard deviation of the logarithm
  double most;    ///< the factor is bounded here
};

/// The factors that are fitted, each with its prior: that of host gaps, then those of launch latencies and of device
/// times, or no others.
using Priors = std::vector<Prior>;

constexpr double kSmallest = 1e-4, kAnything = 1e3;
constexpr double kAddedToAnOperation_s = 0.4e-6, kMostAdded = 0.03;

/// The part of recorded device times that is the program's, where a tracer added its time to every operation.
double untraced_part(const Workload& workload) {
  Duration recorded{};
  std::uint64_t operations = 0;
  for (const Job& job : workload.jobs) {
    recorded += workload.device_time(job);
    operations += job.op_count;
  }
  if (recorded <= Duration{}) return 1.0;
  return 1.0 - std::min(kMostAdded, kAddedToAnOperation_s * static_cast<double>(operations) / to_seconds(recorded));
}

Priors priors_of(const Workload& workload) {
  const auto host = [](double expected, double spread) { return Prior{expected, spread, kAnything}; };
  const auto device = [](double expected) { return Prior{expected, 0.01, 1.0}; };
  const Prior latency{1.0, 1.5, 1.0};
  switch (workload.tracer) {
    case Workload::Tracer::kTracer:
      return {host(1.0, 0.35), latency, device(untraced_part(workload))};
    case Workload::Tracer::kProfiler:
      return {host(0.5, 1.0), latency, device(1.0)};
    case Workload::Tracer::kNone:
      break;
  }
  return {host(1.0, 1.0)};
}

/// Maximum a posteriori estimate of the factors, given the rate of a client alone and log-normal priors. To first order
/// that estimate lies from the expected factors along the gradient of the rate's logarithm, each component multiplied
/// by its prior's variance. Regula falsi finds the rate along that line. The gradient is taken where the factors are
/// expected, and once more where the first line led.
class PosteriorFit {
 public:
  PosteriorFit(ClientSpec steady, const DeviceSpec& device, double jobs_per_s, Priors priors)
      : client_(std::move(steady)), device_(device), target_(jobs_per_s), priors_(std::move(priors)) {}

  SoloFit find() {
    Logarithms expected;
    for (const Prior& prior : priors_) expected.push_back(std::log(prior.expected));
    const double excess = excess_at(expected);
    if (std::abs(excess) < kTolerance) return fit_;
    for (int round = 0; round < kRounds; ++round) {
      Logarithms here;
      for (const double factor : factors_) here.push_back(std::log(factor));
      search(expected, excess, direction_at(here));
    }
    return fit_;
  }

 private:
  using Logarithms = std::vector<double>;  // by factor

  static constexpr int kRounds = 2, kMostTrials = 30;
  static constexpr double kStep = 0.02;  // of a logarithm, for a difference quotient
  static constexpr double kFarthest = 8;

  /// The logarithm of how much too long jobs take with these factors. `fit_` and `factors_` are of the last trial.
  double excess_at(const Logarithms& logarithms) {
    factors_.clear();
    for (std::size_t i = 0; i < priors_.size(); ++i)
      factors_.push_back(std::clamp(std::exp(logarithms[i]), kSmallest, priors_[i].most));
    client_.host_gap_scale = fit_.host_gap_scale = factors_[0];
    if (factors_.size() > 1) {
      client_.launch_latency_scale = fit_.launch_latency_scale = factors_[1];
      client_.device_time_scale = fit_.device_time_scale = factors_[2];
    }
    fit_.reached_per_s = solo_rate(client_, device_, target_);
    return std::log(target_ / std::max(fit_.reached_per_s, 1e-9 * target_));
  }

  /// The change of the factors, in logarithms, that makes the logarithm of jobs' lengths greater by one.
  Logarithms direction_at(const Logarithms& here) {
    const double now = excess_at(here);
    Logarithms direction;
    double all = 0;
    for (std::size_t i = 0; i < priors_.size(); ++i) {
      Logarithms shorter = here;
      shorter[i] -= kStep;
      const double slope = std::max(0.0, (now - excess_at(shorter)) / kStep);
      direction.push_back(slope * priors_[i].spread * priors_[i].spread);
      all += slope * direction.back();
    }
    for (double& change : direction) change /= std::max(all, 1e-6);
    return direction;
  }

  /// Regula falsi along a line from `begin`, where `excess` was found; every third step halves the bracket.
  void search(const Logarithms& begin, double excess, const Logarithms& direction) {
    double low = 0, high = 0, below = excess, above = excess, distance = -excess;
    for (int i = 0; i < kMostTrials && std::abs(distance) < kFarthest; ++i) {
      Logarithms factors = begin;
      for (std::size_t k = 0; k < factors.size(); ++k) factors[k] += distance * direction[k];
      const double found = excess_at(factors);
      if (std::abs(found) < kTolerance) return;
      (found < 0 ? low : high) = distance;
      (found < 0 ? below : above) = found;
      const bool is_between = below < 0 && above > 0;
      const bool halves = i % 3 == 2;
      distance = !is_between ? 2 * distance : halves ? (low + high) / 2 : low + (high - low) * below / (below - above);
    }
  }

  ClientSpec client_;
  const DeviceSpec& device_;
  const double target_;
  const Priors priors_;
  std::vector<double> factors_;  ///< in the order of `priors_`
  SoloFit fit_;
};

/// Without any host time, and with device times at this factor.
double device_bound_rate(ClientSpec steady, const DeviceSpec& device, double device_times) {
  steady.host_gap_scale = 0;
  steady.launch_latency_scale = kSmallest;
  steady.device_time_scale = device_times;
  return solo_rate(steady, device);
}

ClientSpec steady_client(const ClientSpec& client) {
  ClientSpec steady = client;
  steady.host_jitter = steady.duration_jitter = 0.0;
  steady.random_phase = false;
  steady.arrival = Duration{0};
  steady.repeat = 0;
  return steady;
}

}  // namespace

double solo_rate_at(const ClientSpec& client, const DeviceSpec& device, double host_gap_scale) {
  ClientSpec steady = steady_client(client);
  steady.host_gap_scale = host_gap_scale;
  return solo_rate(steady, device);
}

double solo_rate_near(const ClientSpec& client, const DeviceSpec& device, double expected_per_s) {
  return solo_rate(steady_client(client), device, expected_per_s);
}

SoloFit fit_to_solo_rate(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s) {
  ClientSpec steady = steady_client(client);
  const auto is_near = [&](const SoloFit& fit) { return std::abs(fit.reached_per_s / jobs_per_s - 1) < kNearEnough; };
  Priors priors = priors_of(*client.workload);
  const double device_times = priors.size() > 1 ? priors[2].expected : 1.0;
  const auto exclude = [&](SoloFit& fit) {
    const double possible_per_s = device_bound_rate(steady, device, device_times);
    if (jobs_per_s > kBeyondDeviceTimes * possible_per_s) fit.possible_per_s = possible_per_s;
  };
  if (priors.size() > 1) {
    SoloFit fit = PosteriorFit(steady, device, jobs_per_s, priors).find();
    if (is_near(fit) && fit.device_time_scale * kBeyondDeviceTimes < device_times) exclude(fit);
    if (is_near(fit)) return fit;
    priors.erase(priors.begin() + 1, priors.end());
  }
  steady.host_gap_scale = 0;
  const double reachable = kTellsHostTime * solo_rate(steady, device, jobs_per_s);
  SoloFit fit = PosteriorFit(steady, device, std::min(jobs_per_s, reachable), priors).find();
  fit.within_reach = is_near(fit);
  if (fit.within_reach) return fit;
  if (jobs_per_s > fit.reached_per_s) exclude(fit);
  steady.host_gap_scale = fit.host_gap_scale;
  fit.reached_per_s = solo_rate(steady, device);
  return fit;
}

void SoloFit::apply_to(ClientSpec& client, const DeviceSpec& device) const {
  client.host_gap_scale = host_gap_scale;
  client.launch_latency_scale = launch_latency_scale;
  client.device_time_scale = device.sharing == Sharing::kConcurrent ? 1.0 : device_time_scale;
}

std::optional<Duration> time_alone(const ClientSpec& client, const DeviceSpec& device, std::uint64_t seed,
                                   Duration horizon, const std::atomic<bool>* interrupt) {
  OpenGates policy;
  const RunInput input{.device = device,
                       .clients = {client},
                       .policy = &policy,
                       .policy_name = "solo",
                       .horizon = horizon,
                       .seed = seed};
  Engine engine(interrupt);
  Recorder unused;
  std::optional<Duration> time;
  Simulation simulation(input, engine, unused, [&](ClientId) { time = engine.now() - kRunStart; });
  simulation.join(ClientId{0});
  engine.run(kRunStart + horizon);
  return time;
}

}  // namespace corun

#include "sim/solo/solo.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/run/simulation.h"

namespace corun {

namespace {

constexpr double kTolerance = 2e-4;
constexpr double kNearEnough = 0.01;
// At its fastest a program is bound by its device, and its rate says nothing of its host time; a little below it does.
constexpr double kTellsHostTime = 0.998;
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

/// A factor on recorded times, and what is expected of it: its logarithm is normally distributed.
struct Unknown {
  double ClientSpec::*of_client;
  double SoloFit::*of_fit;
  double expected, spread;  ///< spread: standard deviation of the logarithm
  double most;
};

constexpr double kSmallest = 1e-4, kAnything = 1e3;
constexpr double kAddedToAnOperation_s = 0.4e-6, kMostAdded = 0.03;

/// The part of recorded device times that is the program's, where a tracer added its time to every operation.
double untraced_part(const Workload& workload) {
  Duration recorded{};
  std::uint64_t operations = 0;
  for (const Job& job : workload.jobs) recorded += workload.device_time(job), operations += job.op_count;
  if (recorded <= Duration{}) return 1.0;
  return 1.0 - std::min(kMostAdded, kAddedToAnOperation_s * static_cast<double>(operations) / to_seconds(recorded));
}

std::vector<Unknown> unknowns_of(const Workload& workload) {
  const auto host = [](double expected, double spread) {
    return Unknown{&ClientSpec::host_gap_scale, &SoloFit::host_gap_scale, expected, spread, kAnything};
  };
  const auto device = [](double expected) {
    return Unknown{&ClientSpec::device_time_scale, &SoloFit::device_time_scale, expected, 0.01, 1.0};
  };
  const Unknown latency{&ClientSpec::launch_latency_scale, &SoloFit::launch_latency_scale, 1.0, 1.5, 1.0};
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

/// The likeliest factors at which a client alone has a rate. Factors are changed in proportion to how much the rate depends
/// on each and to the square of its spread (which is the likeliest way, for small changes): by what it depends on where the
/// factors are expected, and once more by what it depends on where that led to.
class LikeliestFit {
 public:
  LikeliestFit(ClientSpec steady, const DeviceSpec& device, double jobs_per_s, std::vector<Unknown> unknowns)
      : client_(std::move(steady)), device_(device), target_(jobs_per_s), unknowns_(std::move(unknowns)) {}

  SoloFit find() {
    const Logarithms expected = logarithms([](const Unknown& unknown) { return unknown.expected; });
    const double excess = excess_at(expected);
    if (std::abs(excess) < kTolerance) return fit_;
    for (int round = 0; round < kRounds; ++round) {
      const Logarithms here = logarithms([&](const Unknown& unknown) { return fit_.*unknown.of_fit; });
      walk(expected, excess, likeliest_direction(here));
    }
    return fit_;
  }

 private:
  using Logarithms = std::vector<double>;  // by unknown

  static constexpr int kRounds = 2, kMostTrials = 30;
  static constexpr double kStep = 0.02;  // of a logarithm, to see how much a rate depends on it
  static constexpr double kFarthest = 8;

  template <class Of>
  Logarithms logarithms(Of of) const {
    Logarithms all;
    for (const Unknown& unknown : unknowns_) all.push_back(std::log(of(unknown)));
    return all;
  }

  /// Of how much too long jobs take with these factors, the logarithm. The fit is that of the last trial.
  double excess_at(const Logarithms& factors) {
    for (std::size_t i = 0; i < unknowns_.size(); ++i)
      client_.*unknowns_[i].of_client = fit_.*unknowns_[i].of_fit =
          std::clamp(std::exp(factors[i]), kSmallest, unknowns_[i].most);
    fit_.reached_per_s = solo_rate(client_, device_, target_);
    return std::log(target_ / std::max(fit_.reached_per_s, 1e-9 * target_));
  }

  /// Changes of the factors that make the logarithm of jobs' lengths greater by one.
  Logarithms likeliest_direction(const Logarithms& here) {
    const double now = excess_at(here);
    Logarithms direction;
    double all = 0;
    for (std::size_t i = 0; i < unknowns_.size(); ++i) {
      Logarithms shorter = here;
      shorter[i] -= kStep;
      const double depends = std::max(0.0, (now - excess_at(shorter)) / kStep);
      direction.push_back(depends * unknowns_[i].spread * unknowns_[i].spread);
      all += depends * direction.back();
    }
    for (double& change : direction) change /= std::max(all, 1e-6);
    return direction;
  }

  /// Looks for the rate along a line that begins where `excess` was found: false position, which halves where that fails.
  void walk(const Logarithms& begin, double excess, const Logarithms& direction) {
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
  const std::vector<Unknown> unknowns_;
  SoloFit fit_;
};

}  // namespace

SoloFit fit_to_solo_rate(const ClientSpec& client, const DeviceSpec& device, double jobs_per_s) {
  ClientSpec steady = client;
  steady.host_jitter = steady.duration_jitter = 0.0;
  steady.random_phase = false;
  steady.arrival = Duration{0};
  steady.repeat = 0;
  const auto is_near = [&](const SoloFit& fit) { return std::abs(fit.reached_per_s / jobs_per_s - 1) < kNearEnough; };
  std::vector<Unknown> unknowns = unknowns_of(*client.workload);
  if (unknowns.size() > 1) {
    const SoloFit fit = LikeliestFit(steady, device, jobs_per_s, unknowns).find();
    if (is_near(fit)) return fit;
    unknowns.resize(1);
  }
  steady.host_gap_scale = 0;
  const double reachable = kTellsHostTime * solo_rate(steady, device, jobs_per_s);
  SoloFit fit = LikeliestFit(steady, device, std::min(jobs_per_s, reachable), unknowns).find();
  fit.within_reach = is_near(fit);
  return fit;
}

void apply(const SoloFit& fit, const DeviceSpec& device, ClientSpec& client) {
  client.host_gap_scale = fit.host_gap_scale;
  client.launch_latency_scale = fit.launch_latency_scale;
  client.device_time_scale = device.sharing == Sharing::kConcurrent ? 1.0 : fit.device_time_scale;
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

#include "experiments/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "experiments/bands/figure_band.h"
#include "experiments/run/plan.h"
#include "experiments/run/run_inputs.h"
#include "experiments/run/runner.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kWidest = 1024;

/// Index of the scenario's server.
std::size_t server_in(const Scenario& scenario) {
  const auto is_server = [](const ClientChoice& client) { return client.server.has_value(); };
  if (std::ranges::count_if(scenario.clients, is_server) != 1)
    throw Error(ErrorKind::kInput, scenario.where,
                fmt::format("scenario `{}` has {} clients with `server`, expected one", scenario.name,
                            std::ranges::count_if(scenario.clients, is_server)),
                "the load of one server is searched; give others a `file` of requests in a scenario of their own");
  const auto found = std::ranges::find_if(scenario.clients, is_server);
  const ServerChoice& server = *found->server;
  if (server.load.rate_per_s <= 0)
    throw Error(ErrorKind::kInput, server.where,
                fmt::format("the requests of `{}` are not drawn at a rate, which is what is searched", found->name),
                "`requests: { rate: 4/s, prompt: ..., output: ... }`");
  if (server.level.ttft <= Duration{0})
    throw Error(ErrorKind::kInput, server.where, fmt::format("`{}` states no `slo` with a TTFT", found->name),
                "`slo: { ttft: 500ms, tpot: 50ms }`");
  return static_cast<std::size_t>(found - scenario.clients.begin());
}

/// One scenario under one policy at any load.
class Trial {
 public:
  Trial(const Experiment& experiment, std::size_t scenario, std::size_t policy, const PolicyRegistry& policies,
        const Bands& bands)
      : experiment_(experiment), policies_(policies), bands_(bands) {
    Scenario own = experiment.scenarios[scenario];
    own.policies = {own.policies[policy]};
    own.expectations.clear();
    experiment_.scenarios = {own};
    experiment_.points.clear();
    experiment_.record = {.frames = false, .requests = false, .operations = false, .decisions = 0, .baselines = false};
    server_ = server_in(own);
  }

  const ServerChoice& server() const { return *experiment_.scenarios[0].clients[server_].server; }

  LoadPoint at(double rate_per_s) {
    experiment_.scenarios[0].clients[server_].server->load.rate_per_s = rate_per_s;
    const Plan plan = make_plan(experiment_);
    RunInputs inputs(experiment_, plan.hashes, policies_, simulation_backend(), memo_);
    if (!std::exchange(is_checked_, true)) inputs.check();
    LoadPoint point{.rate_per_s = rate_per_s};
    Means means;
    for (const RunSpec& spec : plan.runs) {
      const RunOutcome outcome = run_one(experiment_, spec, inputs, policies_);
      if (outcome.error) throw *outcome.error;
      for (const Metric& metric : outcome.metrics)
        means[{metric.client, metric.name}] += metric.value / static_cast<double>(plan.runs.size());
      add_worst(outcome.metrics, point);
    }
    for (const ClientChoice& client : experiment_.scenarios[0].clients)
      if (!client.server) point.neighbours.push_back({client.name, means[{client.name, "throughput_per_s"}]});
    point.holds = point.rejected == 0 && point.ttft_p99_ms > 0 && holds(point.ttft_p99_ms, server().level.ttft) &&
                  holds(point.tpot_p99_ms, server().level.tpot);
    add_bands(means, point);
    return point;
  }

 private:
  using Means = std::map<std::pair<std::string, std::string>, double>;  // by client and metric, over seeds

  static bool holds(double p99_ms, Duration most) { return most <= Duration{0} || p99_ms <= to_milliseconds(most); }

  const std::string& name() const { return experiment_.scenarios[0].clients[server_].name; }

  void add_worst(const std::vector<Metric>& metrics, LoadPoint& point) const {
    for (const Metric& metric : metrics) {
      if (metric.client != name()) continue;
      if (metric.name == "ttft_p99_ms") point.ttft_p99_ms = std::max(point.ttft_p99_ms, metric.value);
      if (metric.name == "tpot_p99_ms") point.tpot_p99_ms = std::max(point.tpot_p99_ms, metric.value);
      if (metric.name == "rejected") point.rejected = std::max(point.rejected, metric.value);
    }
  }

  void add_bands(const Means& means, LoadPoint& point) const {
    const Scenario& scenario = experiment_.scenarios[0];
    const auto mean = [&](const std::string& client, std::string_view metric) {
      const auto found = means.find({client, std::string(metric)});
      return found == means.end() ? std::nullopt : std::optional(found->second);
    };
    const PredictedRuns runs{error_classes(scenario, scenario.policies[0]), "", {}, mean};
    const auto ttft = figure_band(bands_, runs, name(), "ttft_p99_ms");
    const auto tpot = figure_band(bands_, runs, name(), "tpot_p99_ms");
    point.has_bands = ttft.has_value();
    point.surely_holds = point.holds && ttft && holds(ttft->high, server().level.ttft) &&
                         (!tpot || holds(tpot->high, server().level.tpot));
  }

  Experiment experiment_;
  const PolicyRegistry& policies_;
  const Bands& bands_;
  std::shared_ptr<FitMemo> memo_ = std::make_shared<FitMemo>();
  std::size_t server_ = 0;
  bool is_checked_ = false;
};

/// Keeps the loads that were tried.
class Search {
 public:
  Search(Trial& trial, LargestLoad& out, const std::function<void(const std::string&)>& tick)
      : trial_(trial), out_(out), tick_(tick) {}

  void run(double precision) {
    std::tie(out_.at, out_.beyond) = border(&LoadPoint::holds, precision);
    const auto has_bands = [](const auto& entry) { return entry.second.has_bands; };
    if (std::ranges::any_of(tried_, has_bands))
      out_.surely_per_s = border(&LoadPoint::surely_holds, precision).first.rate_per_s;
  }

 private:
  /// The largest load of which that is true and the least of which it is not; their rates are 0 where none was tried.
  std::pair<LoadPoint, LoadPoint> border(bool LoadPoint::*is_true, double precision) {
    const double stated = out_.stated_per_s;
    if (tried_.empty()) try_at(stated);
    auto [at, beyond] = known(is_true);
    while (beyond.rate_per_s == 0 && at.rate_per_s < stated * kWidest) {
      try_at(at.rate_per_s * 2);
      std::tie(at, beyond) = known(is_true);
    }
    while (at.rate_per_s == 0 && beyond.rate_per_s > stated / kWidest) {
      try_at(beyond.rate_per_s / 2);
      std::tie(at, beyond) = known(is_true);
    }
    while (at.rate_per_s > 0 && beyond.rate_per_s > at.rate_per_s * (1 + precision)) {
      try_at(std::sqrt(at.rate_per_s * beyond.rate_per_s));
      std::tie(at, beyond) = known(is_true);
    }
    return {at, beyond};
  }

  std::pair<LoadPoint, LoadPoint> known(bool LoadPoint::*is_true) const {
    LoadPoint at;
    for (const auto& [rate, point] : tried_) {
      if (!(point.*is_true)) return {at, point};
      at = point;
    }
    return {at, {}};
  }

  void try_at(double rate_per_s) {
    if (tick_) tick_(fmt::format("{} under {} at {:.3g}/s", out_.scenario, out_.policy, rate_per_s));
    tried_[rate_per_s] = trial_.at(rate_per_s);
  }

  Trial& trial_;
  LargestLoad& out_;
  const std::function<void(const std::string&)>& tick_;
  std::map<double, LoadPoint> tried_;  ///< by rate
};

}  // namespace

std::string reason_of(const LargestLoad& load) {
  const LoadPoint& beyond = load.beyond;
  if (beyond.rate_per_s == 0) return "more was not tried";
  if (beyond.rejected > 0) return fmt::format("{:.0f} rejected", beyond.rejected);
  if (beyond.ttft_p99_ms == 0) return "no request was answered";
  if (beyond.ttft_p99_ms > to_milliseconds(load.level.ttft)) return fmt::format("TTFT {:.3g} ms", beyond.ttft_p99_ms);
  return fmt::format("TPOT {:.3g} ms", beyond.tpot_p99_ms);
}

std::vector<LargestLoad> largest_loads(const Experiment& experiment, const PolicyRegistry& policies, double precision,
                                       const std::function<void(const std::string&)>& tick, const Bands& bands) {
  for (const Scenario& scenario : experiment.scenarios) server_in(scenario);
  std::vector<LargestLoad> loads;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    for (std::size_t p = 0; p < scenario.policies.size(); ++p) {
      const ClientChoice& client = scenario.clients[server_in(scenario)];
      LargestLoad load{.scenario = scenario.name,
                       .policy = scenario.policies[p].label,
                       .client = client.name,
                       .stated_per_s = client.server->load.rate_per_s,
                       .level = client.server->level};
      Trial trial(experiment, s, p, policies, bands);
      Search(trial, load, tick).run(precision);
      loads.push_back(std::move(load));
    }
  }
  return loads;
}

}  // namespace corun

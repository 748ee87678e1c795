#include "experiments/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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
  Trial(const Experiment& experiment, std::size_t scenario, std::size_t policy, const PolicyRegistry& policies)
      : experiment_(experiment), policies_(policies) {
    Scenario own = experiment.scenarios[scenario];
    own.policies = {own.policies[policy]};
    own.expectations.clear();
    experiment_.scenarios = {own};
    experiment_.points.clear();
    experiment_.record = {.frames = false, .requests = false, .operations = false, .decisions = 0, .baselines = false};
    server_ = server_in(own);
  }

  const ServerChoice& server() const { return *experiment_.scenarios[0].clients[server_].server; }

  LoadPoint at(double rate_per_s, std::vector<NeighbourRate>& neighbours) {
    experiment_.scenarios[0].clients[server_].server->load.rate_per_s = rate_per_s;
    const Plan plan = make_plan(experiment_);
    RunInputs inputs(experiment_, plan.hashes, policies_, simulation_backend(), memo_);
    if (!std::exchange(is_checked_, true)) inputs.check();
    LoadPoint point{.rate_per_s = rate_per_s};
    std::map<std::string, double> sums;
    for (const RunSpec& spec : plan.runs) {
      const RunOutcome outcome = run_one(experiment_, spec, inputs, policies_);
      if (outcome.error) throw *outcome.error;
      add(outcome.metrics, point, sums);
    }
    neighbours.clear();
    for (const ClientChoice& client : experiment_.scenarios[0].clients)
      if (!client.server)
        neighbours.push_back({client.name, sums[client.name] / static_cast<double>(plan.runs.size())});
    const ServiceLevel& level = server().level;
    point.holds = point.rejected == 0 && point.ttft_p99_ms <= to_milliseconds(level.ttft) &&
                  (level.tpot <= Duration{0} || point.tpot_p99_ms <= to_milliseconds(level.tpot));
    return point;
  }

 private:
  void add(const std::vector<Metric>& metrics, LoadPoint& point, std::map<std::string, double>& sums) const {
    const std::string& name = experiment_.scenarios[0].clients[server_].name;
    for (const Metric& metric : metrics) {
      if (metric.name == "throughput_per_s") sums[metric.client] += metric.value;
      if (metric.client != name) continue;
      if (metric.name == "ttft_p99_ms") point.ttft_p99_ms = std::max(point.ttft_p99_ms, metric.value);
      if (metric.name == "tpot_p99_ms") point.tpot_p99_ms = std::max(point.tpot_p99_ms, metric.value);
      if (metric.name == "rejected") point.rejected = std::max(point.rejected, metric.value);
    }
  }

  Experiment experiment_;
  const PolicyRegistry& policies_;
  std::shared_ptr<FitMemo> memo_ = std::make_shared<FitMemo>();
  std::size_t server_ = 0;
  bool is_checked_ = false;
};

/// Keeps the largest load that holds and the least that does not.
class Search {
 public:
  Search(Trial& trial, LargestLoad& out, const std::function<void(const std::string&)>& tick)
      : trial_(trial), out_(out), tick_(tick) {}

  void run(double precision) {
    const double stated = trial_.server().load.rate_per_s;
    bool holds = try_at(stated);
    for (double factor = 2; holds && factor <= kWidest; factor *= 2) holds = try_at(stated * factor);
    for (double factor = 0.5; out_.at.rate_per_s == 0 && factor >= 1 / kWidest; factor /= 2) try_at(stated * factor);
    if (out_.at.rate_per_s == 0 || out_.beyond.rate_per_s == 0) return;
    while (out_.beyond.rate_per_s > out_.at.rate_per_s * (1 + precision))
      try_at(std::sqrt(out_.at.rate_per_s * out_.beyond.rate_per_s));
  }

 private:
  bool try_at(double rate_per_s) {
    if (tick_) tick_(fmt::format("{} under {} at {:.3g}/s", out_.scenario, out_.policy, rate_per_s));
    std::vector<NeighbourRate> neighbours;
    const LoadPoint point = trial_.at(rate_per_s, neighbours);
    (point.holds ? out_.at : out_.beyond) = point;
    if (point.holds) out_.neighbours = std::move(neighbours);
    return point.holds;
  }

  Trial& trial_;
  LargestLoad& out_;
  const std::function<void(const std::string&)>& tick_;
};

}  // namespace

std::vector<LargestLoad> largest_loads(const Experiment& experiment, const PolicyRegistry& policies, double precision,
                                       const std::function<void(const std::string&)>& tick) {
  for (const Scenario& scenario : experiment.scenarios) server_in(scenario);
  std::vector<LargestLoad> loads;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    for (std::size_t p = 0; p < scenario.policies.size(); ++p) {
      const ClientChoice& client = scenario.clients[server_in(scenario)];
      LargestLoad load{scenario.name, scenario.policies[p].label, client.name, client.server->level, {}, {}};
      Trial trial(experiment, s, p, policies);
      Search(trial, load, tick).run(precision);
      loads.push_back(std::move(load));
    }
  }
  return loads;
}

}  // namespace corun

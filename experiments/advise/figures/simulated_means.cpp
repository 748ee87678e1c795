#include "experiments/advise/figures/simulated_means.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "experiments/run/plan.h"
#include "experiments/run/ranges.h"
#include "experiments/run/run_inputs.h"
#include "experiments/run/runner.h"

namespace corun {

namespace {

constexpr std::string_view kWarning = "warning: ";

using Runs = std::map<std::pair<std::size_t, std::size_t>, SimulatedBounds::value_type>;  // by scenario and policy

/// Scenarios that bound the same one stand together.
std::vector<SimulatedBounds> joined(const Experiment& experiment, Runs& runs) {
  std::vector<SimulatedBounds> all;
  std::size_t first = 0;  // of the results of the scenario at hand
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const std::size_t policies = experiment.scenarios[s].policies.size();
    if (s == 0 || experiment.scenarios[s - 1].own_name() != experiment.scenarios[s].own_name()) {
      first = all.size();
      all.resize(first + policies);
    }
    for (std::size_t p = 0; p < policies; ++p) all[first + p].push_back(std::move(runs[{s, p}]));
  }
  return all;
}

/// All scenarios have the same clients: what is wrong with one is said once.
InvalidInput once(const InvalidInput& refused) {
  std::vector<Diagnostic> kept;
  for (const Diagnostic& diagnostic : refused.diagnostics())
    if (std::ranges::find(kept, diagnostic.message, &Diagnostic::message) == kept.end()) kept.push_back(diagnostic);
  return InvalidInput(std::move(kept), 0, refused.kind());
}

/// What no metric says of a server: kGoodPart and kSilentRuns.
void add_of_server(const std::vector<Metric>& metrics, const std::string& server, ClientMeans& means) {
  const auto value = [&](std::string_view name) {
    const auto found = std::ranges::find_if(
        metrics, [&](const Metric& metric) { return metric.client == server && metric.name == name; });
    return found == metrics.end() ? 0 : found->value;
  };
  if (value("ttft_p99_ms") <= 0) means.add(kSilentRuns, 1);
  const double answered = value("progress_ratio") * value("solo_throughput_per_s");
  if (answered > 0) means.add(kGoodPart, std::min(1.0, value("goodput_per_s") / answered));
}

}  // namespace

std::optional<double> ClientMeans::of(const std::string& metric) const {
  const auto found = sums_.find(metric);
  return found == sums_.end() ? std::nullopt : std::optional(found->second / runs_);
}

void ClientMeans::take(const std::string& metric, const ClientMeans& other) {
  if (const auto mean = other.of(metric)) sums_[metric] = *mean * runs_;
}

double ClientMeans::kept() const {
  const double alone = of("solo_throughput_per_s").value_or(0);
  return alone > 0 ? of("throughput_per_s").value_or(0) / alone : 0;
}

double SimulatedRuns::jobs_of(const std::string& client) const {
  return clients.at(client).of("throughput_per_s").value_or(0) * measured_s;
}

double SimulatedRuns::enough() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [name, means] : clients)
    if (means.of("throughput_per_s"))
      least = std::min(least, jobs_of(name) / (servers.contains(name) ? kFewestRequests / seeds : kFewestJobs));
  return least;
}

Basis SimulatedRuns::basis() const {
  const auto has_frames = [](const auto& entry) { return entry.second.of("fps_mean").has_value(); };
  return basis_of(ComparedMechanisms::built_in(), mechanism, std::ranges::any_of(clients, has_frames));
}

std::optional<FigureBand> SimulatedRuns::band(const Bands& bands, const std::string& client,
                                              std::string_view metric) const {
  const auto mean = [this](const std::string& name, std::string_view its) {
    const auto found = clients.find(name);
    return found == clients.end() ? std::nullopt : found->second.of(std::string(its));
  };
  return figure_band(bands, {classes, "", {}, mean}, client, metric);
}

std::vector<SimulatedBounds> SimulatedMeans::of(const std::string& text) {
  try {
    return simulate(text);
  } catch (const InvalidInput& refused) {
    throw once(refused);
  }
}

std::vector<SimulatedBounds> SimulatedMeans::simulate(const std::string& text) {
  PolicyRegistry policies = policies_;
  const Experiment experiment =
      with_host_ranges(with_draw_ranges(parse_experiment(text, kMadeExperiment, {}, policies)));
  for (const Scenario& scenario : experiment.scenarios)
    for (const ClientChoice& client : scenario.clients) {
      if (client.is_bound) unknown_rates_.insert(client.name);
      if (client.has_bound_draw) unknown_draws_.insert(client.name);
    }
  const Plan plan = make_plan(experiment);
  RunInputs inputs(experiment, plan.hashes, policies, simulation_backend(), memo_);
  inputs.check();
  for (const std::string& warning : inputs.warnings()) keep(warning);
  Runs runs;
  run_plan(experiment, plan, inputs, policies, {.jobs = jobs_}, [&](const RunSpec& spec, const RunOutcome& outcome) {
    if (outcome.error) throw *outcome.error;
    std::istringstream notes(outcome.notes);
    for (std::string note; std::getline(notes, note);)
      if (note.starts_with(kWarning)) keep(note.substr(kWarning.size()));
    SimulatedRuns& its = runs[{spec.scenario, spec.policy}];
    const Scenario& scenario = experiment.scenarios[spec.scenario];
    its.measured_s = scenario.measured_s();
    its.classes = error_classes(scenario, scenario.policies[spec.policy]);
    its.mechanism = mechanism_on(scenario, scenario.policies[spec.policy]);
    for (const Metric& metric : outcome.metrics) its.clients[metric.client].add(metric.name, metric.value);
    for (const ClientChoice& client : scenario.clients) {
      if (client.is_bound) its.unknown_rates.insert(client.name);
      if (!client.server) continue;
      its.servers[client.name] = client.server->level;
      add_of_server(outcome.metrics, client.name, its.clients[client.name]);
    }
    for (auto& [client, means] : its.clients) means.end_run();
    its.seeds += 1;
  });
  return joined(experiment, runs);
}

void SimulatedMeans::keep(std::string warning) {
  if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
}

}  // namespace corun

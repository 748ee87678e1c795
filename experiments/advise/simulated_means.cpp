#include "experiments/advise/simulated_means.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "experiments/question/experiment.h"
#include "experiments/run/host_range.h"
#include "experiments/run/plan.h"
#include "experiments/run/run_inputs.h"
#include "experiments/run/runner.h"

namespace corun {

namespace {

using MeansOfScenario = std::map<std::string, ClientMeans>;

constexpr std::string_view kWarning = "warning: ";

void keep_new(std::vector<std::string>& kept, std::string sentence) {
  if (std::ranges::find(kept, sentence) == kept.end()) kept.push_back(std::move(sentence));
}

/// Scenarios that bound the same one stand together.
std::vector<SimulatedScenario> joined(const Experiment& experiment,
                                      std::map<std::pair<std::size_t, std::size_t>, MeansOfScenario>& means) {
  std::vector<SimulatedScenario> all;
  std::size_t first = 0;  // of the results of the scenario at hand
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    const bool is_new = s == 0 || experiment.scenarios[s - 1].own_name() != scenario.own_name();
    if (is_new) first = all.size();
    for (std::size_t p = 0; p < scenario.policies.size(); ++p) {
      if (is_new) all.push_back({scenario.own_name(), scenario.policies[p].label});
      all[first + p].bounds.push_back(std::move(means[{s, p}]));
    }
  }
  return all;
}

}  // namespace

void widen(std::optional<Spread>& spread, std::optional<double> value) {
  if (!value) return;
  if (!spread) spread = Spread{*value, *value};
  spread->low = std::min(spread->low, *value);
  spread->high = std::max(spread->high, *value);
}

std::optional<double> ClientMeans::of(const std::string& metric) const {
  const auto found = sums_.find(metric);
  return found == sums_.end() ? std::nullopt : std::optional(found->second / runs_);
}

double ClientMeans::kept() const {
  const double alone = of("solo_throughput_per_s").value_or(0);
  return alone > 0 ? of("throughput_per_s").value_or(0) / alone : 0;
}

std::vector<SimulatedScenario> SimulatedMeans::of(const std::string& text) {
  PolicyRegistry policies = policies_;
  const Experiment experiment = with_host_ranges(parse_experiment(text, name_, {}, policies));
  const Plan plan = make_plan(experiment);
  RunInputs inputs(experiment, plan.hashes, policies);
  inputs.check();
  for (const std::string& warning : inputs.warnings()) keep_new(warnings_, warning);
  std::map<std::pair<std::size_t, std::size_t>, MeansOfScenario> means;
  run_plan(experiment, plan, inputs, policies, {.jobs = jobs_}, [&](const RunSpec& spec, const RunOutcome& outcome) {
    if (outcome.error) throw *outcome.error;
    take_notes(outcome.notes);
    MeansOfScenario& its = means[{spec.scenario, spec.policy}];
    for (const Metric& metric : outcome.metrics) its[metric.client].add(metric.name, metric.value);
    for (auto& [client, of_client] : its) of_client.end_run();
  });
  return joined(experiment, means);
}

void SimulatedMeans::take_notes(const std::string& notes) {
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kWarning))
      keep_new(warnings_, line.substr(kWarning.size()));
    else
      keep_new(notes_, line);
}

}  // namespace corun

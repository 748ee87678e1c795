#include "experiments/commands/experiment/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "experiments/base/json.h"
#include "experiments/commands/counted.h"
#include "experiments/run/execution_backend.h"
#include "sim/metrics/metric_table.h"

namespace corun {

namespace {

constexpr std::size_t kMostShown = 12;  // notes, failures

std::string shape_of(const Experiment& experiment, const Plan& plan) {
  if (!experiment.points.empty())
    return fmt::format("{} of {} = {}", counted(experiment.points.size(), "point"),
                       counted(experiment.points.front().size(), "parameter"), counted(plan.runs.size(), "run"));
  const Scenario& scenario = experiment.scenarios.front();
  const bool is_one = experiment.scenarios.size() == 1;
  const std::string grid = is_one ? fmt::format("{} x {}", counted(scenario.policies.size(), "policy"),
                                                counted(scenario.seeds.size(), "seed"))
                                  : fmt::format("{} scenarios", experiment.scenarios.size());
  return fmt::format("{} = {}", grid, counted(plan.runs.size(), "run"));
}

std::string mark(bool holds, bool with_color) {
  if (!with_color) return holds ? "✓" : "✗";
  return holds ? "\033[32m✓\033[0m" : "\033[1;31m✗\033[0m";
}

std::string heading(const Scenario& scenario) {
  if (scenario.cluster) return fmt::format("{}: pods on a cluster\n", printable(scenario.name));
  return fmt::format("{}: {} on {}, {:.6g} {} seconds, {}{}\n", printable(scenario.name),
                     counted(scenario.clients.size(), "client"), printable(scenario.device.name),
                     to_seconds(scenario.horizon), scenario.backend == simulation_backend().name ? "simulated" : "real",
                     counted(scenario.seeds.size(), "seed"),
                     scenario.seeds.size() > 1 ? " (mean and 95 % interval)" : "");
}

void add_figures(Json& json, const Scenario& scenario, const Summary& summary, const std::string& policy,
                 const std::string& client) {
  json.object().field("policy", policy).field("client", client).key("metrics").object();
  for (const MetricDescriptor& metric : metric_table())
    if (const auto value = summary.get(scenario, policy, client, std::string(metric.name)))
      json.key(metric.name)
          .object()
          .field("mean", value->mean)
          .field("low", value->low)
          .field("high", value->high)
          .field("seeds", value->count)
          .field("unit", metric.unit)
          .end();
  json.end().end();
}

bool is_warning(const std::string& note) { return note.starts_with("warning: "); }

/// True if every expectation holds.
bool add_scenario(Json& json, const Scenario& scenario, const Summary& summary) {
  json.object().field("name", scenario.name).field("device", scenario.device.name).key("clients").array();
  for (const PolicyChoice& policy : scenario.policies) {
    for (const ClientChoice& client : scenario.clients) add_figures(json, scenario, summary, policy.label, client.name);
    add_figures(json, scenario, summary, policy.label, scenario.cluster ? "cluster" : "device");
  }
  json.end().key("sentences").array();
  for (const std::string& sentence : summary.sentences(scenario)) json.value(sentence);
  json.end().key("notes").array();
  for (const std::string& note : summary.notes(scenario)) json.value(note);
  json.end().key("expectations").array();
  bool all_hold = true;
  for (const auto& verdict : summary.verdicts(scenario, false)) {
    json.object().field("text", verdict.text).field("holds", verdict.holds).end();
    all_hold = all_hold && verdict.holds;
  }
  json.end().end();
  return all_hold;
}

}  // namespace

RunReport::RunReport(const CommonOptions& common, const Experiment& experiment, const Plan& plan, std::string output)
    : common_(common),
      experiment_(experiment),
      plan_(plan),
      output_(std::move(output)),
      summary_(experiment),
      sweep_(experiment, plan) {}

void RunReport::add(const RunSpec& spec, const RunOutcome& outcome) {
  summary_.add(spec, outcome);
  if (is_sweep()) sweep_.add(spec, outcome);
}

void RunReport::print_begin(unsigned jobs, const std::optional<Shard>& shard) const {
  fmt::print(stderr, "{}   {}   {}   {}\n", printable(experiment_.name), shape_of(experiment_, plan_),
             counted(jobs, "job"), printable(output_));
  if (shard) fmt::print(stderr, "shard {}\n", shard->to_string());
  if (experiment_.sweep && !is_sweep()) fmt::print(stderr, "its `sweep` is not expanded: use `simcli sweep`\n");
}

void RunReport::print_resumed(const std::map<std::string, RunOutcome>& completed, std::size_t retried,
                              std::size_t to_do) const {
  const auto failed = std::ranges::count_if(completed, [](const auto& run) { return run.second.error.has_value(); });
  fmt::print(stderr, "{} completed{}, {} to do{}\n", counted(completed.size(), "run"),
             failed > 0 ? fmt::format(" ({} failed)", failed) : "", to_do,
             retried > 0 ? fmt::format(" ({} again, after running out of memory)", retried) : "");
}

bool RunReport::print_results(std::size_t runs) const {
  std::fflush(stderr);
  if (is_sweep()) print_sweep(runs);
  if (is_sweep()) return true;
  if (common_.json) return print_scenarios_json(runs);
  bool all_hold = true;
  for (const Scenario& scenario : experiment_.scenarios) all_hold = print_scenario(scenario) && all_hold;
  return all_hold;
}

void RunReport::print_sweep(std::size_t runs) const {
  if (!common_.json) return fmt::print("\n{}", sweep_.table());
  Json json;
  json.object().field("schema_version", 1).field("experiment", experiment_.name).field("output", output_);
  json.field("points", experiment_.points.size()).field("runs", runs).field("failed", summary_.failures()).end();
  fmt::print("{}\n", json.text());
}

/// True if every expectation holds.
bool RunReport::print_scenario(const Scenario& scenario) const {
  fmt::print("\n{}{}", heading(scenario), summary_.table(scenario));
  for (const std::string& note : summary_.notes(scenario))
    if (is_warning(note)) fmt::print("{}\n", printable(note));
  for (const std::string& sentence : summary_.sentences(scenario)) fmt::print("{}\n", printable(sentence));
  for (const auto& verdict : summary_.verdicts(scenario, true))
    fmt::print("{} {}\n", mark(verdict.holds, common_.out.has_color), printable(verdict.text));
  bool all_hold = true;
  for (const auto& verdict : summary_.verdicts(scenario, false)) {
    fmt::print("{} {}\n", mark(verdict.holds, common_.out.has_color), printable(verdict.text));
    all_hold = all_hold && verdict.holds;
  }
  return all_hold;
}

bool RunReport::print_scenarios_json(std::size_t runs) const {
  Json json;
  json.object().field("schema_version", 1).field("experiment", experiment_.name).field("output", output_);
  json.field("runs", runs).field("failed", summary_.failures()).key("scenarios").array();
  bool all_hold = true;
  for (const Scenario& scenario : experiment_.scenarios) all_hold = add_scenario(json, scenario, summary_) && all_hold;
  fmt::print("{}\n", json.end().end().text());
  return all_hold;
}

/// What was assumed, each sentence once whatever the number of scenarios. Tables have their warnings below them.
void RunReport::print_notes() const {
  const bool is_shown = !is_sweep() && !common_.json;
  std::vector<std::string> notes;
  for (const Scenario& scenario : experiment_.scenarios)
    for (const std::string& note : summary_.notes(scenario))
      if (!(is_warning(note) && is_shown) && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  for (std::size_t i = 0; i < std::min(notes.size(), kMostShown); ++i)
    fmt::print(stderr, "note: {}\n", printable(notes[i]));
  if (notes.size() > kMostShown)
    fmt::print(stderr, "note: {} more in runs.notes of the results\n", notes.size() - kMostShown);
}

void RunReport::print_trailer() const {
  std::fflush(stdout);
  fmt::print(stderr, "\n");
  print_notes();
  const std::vector<std::string>& failures = summary_.failure_lines();
  for (std::size_t i = 0; i < std::min(failures.size(), kMostShown); ++i)
    fmt::print(stderr, "failed: {}\n", printable(failures[i]));
  if (failures.size() > kMostShown)
    fmt::print(stderr, "failed: {} more, see runs.error of the results\n", failures.size() - kMostShown);
  fmt::print(stderr, "results: {}\n", printable(output_));
  fmt::print(stderr, "rerun: simcli {}   (engine {}", printable(quoted(common_.arguments)), engine_version());
  for (const auto& [path, hash] : plan_.hashes)
    fmt::print(stderr, ", {} {}", printable(std::filesystem::path(path).filename().string()), hash.substr(0, 12));
  fmt::print(stderr, ")\n");
}

void RunReport::print_stop(std::size_t done, std::size_t wanted, bool is_cut_short,
                           const std::vector<std::string>& resuming) const {
  fmt::print(stderr, "stopped after {} of {} runs{}\n", done, wanted, is_cut_short ? ", the last one interrupted" : "");
  if (!resuming.empty()) fmt::print(stderr, "resume: simcli {}\n", printable(quoted(resuming)));
}

}  // namespace corun

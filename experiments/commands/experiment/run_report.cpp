#include "experiments/commands/experiment/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/bands/host_in_company.h"
#include "experiments/base/json.h"
#include "experiments/commands/counted.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/streams.h"

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
  return fmt::format("{}: {} on {}{}, {:.6g} {} seconds, {}{}\n", printable(scenario.own_name()),
                     counted(scenario.clients.size(), "client"), printable(scenario.device.name),
                     scenario.device_facts.is_measured ? "" : " (a device that was never measured)",
                     to_seconds(scenario.horizon), scenario.backend == kSimulation ? "simulated" : "real",
                     counted(scenario.seeds.size(), "seed"),
                     scenario.seeds.size() >= kFewestForInterval ? " (mean and 95 % interval)"
                     : scenario.seeds.size() > 1                 ? ": no interval"
                                                                 : "") +
         (scenario.bounds.empty() ? "" : "the answer is a range: the speed of hosts is not known\n");
}

bool is_warning(const std::string& note) { return note.starts_with("warning: "); }

/// Of which class the errors of a client's figures are: "turns of 2 programs"; "too few measured co-runs"; "" of what
/// was measured and of a client alone.
std::string error_class_of(const Scenario& scenario, const PolicyChoice& policy, const std::string& client) {
  if (scenario.backend != kSimulation || scenario.clients.size() < 2) return "";
  const auto classes = error_classes(scenario, policy);
  const auto its = classes.find(client);
  return its == classes.end() ? "too few measured co-runs" : its->second.label();
}

void add_figures(Json& json, const Scenario& scenario, const Summary& summary, const std::string& policy,
                 const std::string& client, const std::string& error_class = "", Basis basis = {}) {
  json.object().field("policy", policy).field("client", client);
  if (basis != Basis::kNothingShared) json.field("basis", to_string(basis));
  if (!error_class.empty()) json.field("error_class", error_class);
  json.key("metrics").object();
  for (const MetricDescriptor& metric : metric_table()) {
    const std::string name(metric.name);
    const auto value = summary.get(scenario, policy, client, name);
    if (!value) continue;
    json.key(metric.name)
        .object()
        .field("mean", value->mean)
        .field("low", has_interval(*value) ? value->low : NAN)
        .field("high", has_interval(*value) ? value->high : NAN)
        .field("seeds", value->count)
        .field("unit", metric.unit);
    if (const auto slower = summary.slower(scenario, policy, client, name)) json.field("slower_hosts", *slower);
    if (const auto band = summary.band(scenario, policy, client, name))
      json.field("band_low", band->low).field("band_high", band->high);
    json.end();
  }
  json.end().end();
}

/// True if every expectation holds.
bool add_scenario(Json& json, const Scenario& scenario, const Summary& summary) {
  json.object().field("name", scenario.name).field("device", scenario.device.name).key("clients").array();
  for (const PolicyChoice& policy : scenario.policies) {
    for (const ClientChoice& client : scenario.clients)
      add_figures(json, scenario, summary, policy.label, client.name, error_class_of(scenario, policy, client.name),
                  summary.basis(scenario, policy));
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
  print_err("{}   {}   {}   {}\n", printable(experiment_.name), shape_of(experiment_, plan_), counted(jobs, "job"),
            printable(output_));
  if (shard) print_err("shard {}\n", shard->to_string());
  if (experiment_.sweep && !is_sweep()) print_err("its `sweep` is not expanded: use `simcli sweep`\n");
}

void RunReport::print_resumed(const std::map<std::string, RunOutcome>& completed, std::size_t retried,
                              std::size_t to_do) const {
  const auto failed = std::ranges::count_if(completed, [](const auto& run) { return run.second.error.has_value(); });
  print_err("{} completed{}, {} to do{}\n", counted(completed.size(), "run"),
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
  if (!common_.json) return print_out("\n{}", sweep_.table(common_.out.table_width()));
  Json json;
  json.object().field("schema_version", 1).field("experiment", experiment_.name).field("output", output_);
  json.field("points", experiment_.points.size()).field("runs", runs).field("failed", summary_.failures()).end();
  print_out("{}\n", json.text());
}

/// Of scenarios that bound one another, each once.
std::vector<std::string> RunReport::warnings_of(const std::vector<const Scenario*>& bounds) const {
  std::vector<std::string> warnings;
  for (const Scenario* bound : bounds)
    for (const std::string& note : summary_.notes(*bound))
      if (is_warning(note) && std::ranges::find(warnings, note) == warnings.end()) warnings.push_back(note);
  return warnings;
}

/// True if every expectation holds.
bool RunReport::print_scenario(const Scenario& scenario) const {
  const std::vector<const Scenario*> bounds = summary_.bounds_with(scenario);
  const std::size_t width = common_.out.table_width();
  if (bounds.front() == &scenario) print_out("\n{}{}", heading(scenario), summary_.table(scenario, width));
  if (bounds.front() == &scenario) print_out("{}", summary_.bands(scenario, width));
  if (summary_.has_slower_hosts(scenario))
    print_out("a range from x to y: hosts as quick in company as alone, and {} times as quick\n", kSlowerHost);
  if (bounds.front() == &scenario)
    for (const std::string& warning : warnings_of(bounds)) print_out("{}\n", printable(warning));
  if (bounds.size() > 1) print_out("{}:\n", printable(scenario.name));
  for (const std::string& sentence : summary_.sentences(scenario)) print_out("{}\n", printable(sentence));
  for (const auto& verdict : summary_.verdicts(scenario, true))
    print_out("{} {}\n", mark(verdict.holds, common_.out.has_color), printable(verdict.text));
  bool all_hold = true;
  for (const auto& verdict : summary_.verdicts(scenario, false)) {
    print_out("{} {}\n", mark(verdict.holds, common_.out.has_color), printable(verdict.text));
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
  print_out("{}\n", json.end().end().text());
  return all_hold;
}

/// What was assumed, each sentence once whatever the number of scenarios. Warnings stand below the figures, if these
/// are printed.
void RunReport::print_notes() const {
  const bool has_tables = !common_.json && !is_sweep();
  std::vector<std::string> notes;
  for (const Scenario& scenario : experiment_.scenarios)
    for (const std::string& note : summary_.notes(scenario)) {
      const bool is_new = std::ranges::find(notes, note) == notes.end();
      if (is_new && !(has_tables && is_warning(note))) notes.push_back(note);
    }
  for (std::size_t i = 0; i < std::min(notes.size(), kMostShown); ++i) print_err("note: {}\n", printable(notes[i]));
  if (notes.size() > kMostShown) print_err("note: {} more in runs.notes of the results\n", notes.size() - kMostShown);
}

void RunReport::print_trailer() const {
  flush_out();
  print_err("\n");
  print_notes();
  const std::vector<std::string>& failures = summary_.failure_lines();
  for (std::size_t i = 0; i < std::min(failures.size(), kMostShown); ++i)
    print_err("failed: {}\n", printable(failures[i]));
  if (failures.size() > kMostShown)
    print_err("failed: {} more, see runs.error of the results\n", failures.size() - kMostShown);
  print_err("results: {}\n", printable(output_));
  print_err("rerun: simcli {}   (engine {}", printable(quoted(common_.arguments)), engine_version());
  for (const auto& [path, hash] : plan_.hashes)
    print_err(", {} {}", printable(std::filesystem::path(path).filename().string()), hash.substr(0, 12));
  print_err(")\n");
}

void RunReport::print_stop(std::size_t done, std::size_t wanted, bool is_cut_short,
                           const std::vector<std::string>& resuming) const {
  print_err("stopped after {} of {} runs{}\n", done, wanted, is_cut_short ? ", the last one interrupted" : "");
  if (!resuming.empty()) print_err("resume: simcli {}\n", printable(quoted(resuming)));
}

}  // namespace corun

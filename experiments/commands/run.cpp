#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>

#include "experiments/question/clients/command_choice.h"
#include "experiments/commands/commands.h"
#include "experiments/base/json.h"
#include "experiments/base/processors.h"
#include "experiments/results/results.h"
#include "experiments/summary/summary.h"
#include "experiments/summary/sweep_summary.h"
#include "sim/executor/host/mps_daemon.h"
#include "sim/metrics/metric_table.h"

namespace corun {

namespace {

constexpr std::size_t kMostShown = 12;  // notes, failures

/// A first interrupt lets running runs finish; a second one ends the program, as the system does by default. In a live
/// run the first asks the programs to end, the second kills them, the third ends the program. A signal handler can
/// reach nothing but a global.
std::atomic<bool> g_interrupted{false}, g_interrupted_again{false}, g_has_programs{false};
constexpr char kAsked[] = "\ninterrupted: its programs are asked to end (once more: they are killed)\n";
std::atomic<int> g_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void interrupt(int signal) {
  g_signal.store(signal);
  const bool is_again = g_interrupted.exchange(true);
  if (!g_has_programs || is_again) std::signal(signal, SIG_DFL);
  if (is_again) g_interrupted_again.store(true);
  if (g_has_programs && !is_again) [[maybe_unused]]
    const ssize_t said = write(STDERR_FILENO, kAsked, sizeof kAsked - 1);
}

std::string output_of(const Experiment& experiment, const RunOptions& options) {
  if (!options.output.empty()) return options.output;
  return experiment.output.empty() ? experiment.name + ".sqlite" : experiment.output;
}

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

/// True if every expectation holds.
bool print_scenario(const CommonOptions& common, const Scenario& scenario, const Summary& summary) {
  fmt::print("\n{}{}", heading(scenario), summary.table(scenario));
  for (const std::string& sentence : summary.sentences(scenario)) fmt::print("{}\n", printable(sentence));
  for (const auto& verdict : summary.verdicts(scenario, true))
    fmt::print("{} {}\n", mark(verdict.holds, common.out.has_color), printable(verdict.text));
  bool all_hold = true;
  for (const auto& verdict : summary.verdicts(scenario, false)) {
    fmt::print("{} {}\n", mark(verdict.holds, common.out.has_color), printable(verdict.text));
    all_hold = all_hold && verdict.holds;
  }
  return all_hold;
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

/// True: expectations are of single scenarios, not of the points of a sweep.
bool print_sweep(const CommonOptions& common, const Experiment& experiment, const SweepSummary& sweep,
                 const Summary& summary, const std::string& output, std::size_t runs) {
  std::fflush(stderr);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("experiment", experiment.name).field("output", output);
    json.field("points", experiment.points.size()).field("runs", runs).field("failed", summary.failures()).end();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("\n{}", sweep.table());
  }
  return true;
}

bool print_results(const CommonOptions& common, const Experiment& experiment, const Summary& summary,
                   const std::string& output, std::size_t runs) {
  std::fflush(stderr);
  bool all_hold = true;
  if (!common.json) {
    for (const Scenario& scenario : experiment.scenarios)
      all_hold = print_scenario(common, scenario, summary) && all_hold;
    return all_hold;
  }
  Json json;
  json.object()
      .field("schema_version", 1)
      .field("experiment", experiment.name)
      .field("output", output)
      .field("runs", runs);
  json.field("failed", summary.failures()).key("scenarios").array();
  for (const Scenario& scenario : experiment.scenarios) all_hold = add_scenario(json, scenario, summary) && all_hold;
  fmt::print("{}\n", json.end().end().text());
  return all_hold;
}

/// What was assumed, each sentence once whatever the number of scenarios.
void print_notes(const Experiment& experiment, const Summary& summary) {
  std::vector<std::string> notes;
  for (const Scenario& scenario : experiment.scenarios)
    for (const std::string& note : summary.notes(scenario))
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  for (std::size_t i = 0; i < std::min(notes.size(), kMostShown); ++i)
    fmt::print(stderr, "note: {}\n", printable(notes[i]));
  if (notes.size() > kMostShown)
    fmt::print(stderr, "note: {} more in runs.notes of the results\n", notes.size() - kMostShown);
}

void print_trailer(const Experiment& experiment, const Summary& summary, const RunOptions& options, const Plan& plan,
                   const std::string& output) {
  std::fflush(stdout);
  fmt::print(stderr, "\n");
  print_notes(experiment, summary);
  const std::vector<std::string>& failures = summary.failure_lines();
  for (std::size_t i = 0; i < std::min(failures.size(), kMostShown); ++i)
    fmt::print(stderr, "failed: {}\n", printable(failures[i]));
  if (failures.size() > kMostShown)
    fmt::print(stderr, "failed: {} more, see runs.error of the results\n", failures.size() - kMostShown);
  fmt::print(stderr, "results: {}\n", printable(output));
  fmt::print(stderr, "again: simcli {}   (engine {}", printable(options.arguments), engine_version());
  for (const auto& [path, hash] : plan.hashes)
    fmt::print(stderr, ", {} {}", printable(std::filesystem::path(path).filename().string()), hash.substr(0, 12));
  fmt::print(stderr, ")\n");
}

void print_stop(const RunOptions& options, std::size_t done, std::size_t wanted, bool is_cut_short) {
  fmt::print(stderr, "stopped after {} of {} runs{}\n", done, wanted,
             is_cut_short ? ", the last of them cut short" : "");
  if (!options.resume_arguments.empty())
    fmt::print(stderr, "to go on: simcli {}\n", printable(options.resume_arguments));
}

int exit_code(const Summary& summary, std::size_t runs, bool all_hold, bool is_complete) {
  if (!is_complete) return kExitSignal + g_signal.load();
  const auto& kinds = summary.failure_kinds();
  const bool all_failed_alike = summary.failures() == runs && kinds.size() == 1;
  if (runs > 0 && all_failed_alike) return static_cast<int>(*kinds.begin());
  if (summary.failures() > 0) return kExitSomeFailed;
  return all_hold ? 0 : kExitExpectation;
}

/// What a resumed file holds. Failed runs are results like others, unless there was no memory for them.
void print_resumed(const std::map<std::string, RunOutcome>& there, std::size_t retried, std::size_t to_do) {
  const auto failed = std::ranges::count_if(there, [](const auto& run) { return run.second.error.has_value(); });
  fmt::print(stderr, "{} there{}, {} to do{}\n", counted(there.size(), "run"),
             failed > 0 ? fmt::format(" ({} failed)", failed) : "", to_do,
             retried > 0 ? fmt::format(" ({} again, for which there was no memory)", retried) : "");
}

/// The runs that are to be done now.
Plan remaining(const Plan& plan, const std::optional<Shard>& shard, const std::map<std::string, RunOutcome>& there) {
  Plan rest{{}, plan.hashes};
  for (std::size_t i = 0; i < plan.runs.size(); ++i)
    if ((!shard || shard->has(i)) && !there.contains(plan.runs[i].id)) rest.runs.push_back(plan.runs[i]);
  return rest;
}

/// Before anything is started: a run of minutes is not to fail at its last client.
void check_command(const ClientChoice& client) {
  const std::string& program = client.command.words.front();
  if (is_runnable(program, client.command.working_folder)) return;
  throw Error(ErrorKind::kInput, client.where,
              fmt::format("client `{}`: there is no program `{}` that can be run", client.name, program),
              program.find('/') == std::string::npos ? "it is looked for in the folders of PATH" : "");
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  const bool ends_in_y = noun.ends_with('y');
  return fmt::format("{} {}{}", count, noun.substr(0, noun.size() - (ends_in_y ? 1 : 0)), ends_in_y ? "ies" : "s");
}

const std::atomic<bool>& interrupted() { return g_interrupted; }
const std::atomic<bool>& interrupted_again() { return g_interrupted_again; }

void put_in(const ExecutionBackend& backend, Scenario& scenario) {
  scenario.backend = backend.name;
  if (scenario.cluster && backend.name != simulation_backend().name)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("scenario `{}` is a cluster: only `simcli run` replays one", scenario.name));
  for (const ClientChoice& client : scenario.clients) {
    const bool is_live = backend.name == kLiveBackend;
    const bool has_replay = !client.trace.empty() || client.synthetic.has_value();
    if (is_live && client.command.words.empty())
      throw Error(ErrorKind::kUnsupported, client.where,
                  fmt::format("client `{}` has no `command`: a live run starts one for each client", client.name));
    if (is_live) check_command(client);
    if (!is_live && !has_replay)
      throw Error(ErrorKind::kUnsupported, client.where,
                  fmt::format("client `{}` has a `command` alone: there is nothing to replay", client.name),
                  "give it a `trace:` or a `synthetic:` too, or use `simcli live`");
  }
}

int run_in(const ExecutionBackend& backend, const CommonOptions& common, const RunOptions& options) {
  PolicyRegistry policies = builtin_policies();
  Experiment experiment = read_experiment(options.file, options.overrides, policies);
  if (options.overrides.expands_sweep && experiment.points.empty())
    throw Error(ErrorKind::kInput, {options.file}, "there is nothing to sweep",
                "give it a section `sweep`, or say what to sweep: `-L pilotfish.margin=100us,300us`");
  for (Scenario& scenario : experiment.scenarios) put_in(backend, scenario);
  experiment.record.baselines = experiment.record.baselines && !options.skips_baselines;
  const Plan plan = make_plan(experiment);
  const std::string output = output_of(experiment, options);
  const Existing existing = options.resumes     ? Existing::kResume
                            : options.overwrite ? Existing::kReplace
                                                : Existing::kRefuse;
  check_output(output, existing);
  RunInputs run_inputs(experiment, plan.hashes, policies, backend);
  run_inputs.check();

  ResultsWriter results(output, existing, stored_plan(experiment, plan, options.shard));
  const std::map<std::string, RunOutcome> there = results.there();
  const Plan rest = remaining(plan, options.shard, there);
  const std::size_t most_jobs = std::max<std::size_t>(rest.runs.size(), 1);
  const auto jobs =
      static_cast<unsigned>(std::min<std::size_t>(options.jobs == 0 ? usable_processors() : options.jobs, most_jobs));
  g_has_programs = backend.name == kLiveBackend;
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  fmt::print(stderr, "{}   {}   {}   {}\n", printable(experiment.name), shape_of(experiment, plan),
             counted(jobs, "job"), printable(output));
  if (options.shard) fmt::print(stderr, "shard {} of the runs\n", options.shard->to_string());
  if (options.resumes) print_resumed(there, results.retried(), rest.runs.size());
  const bool is_sweep = !experiment.points.empty();
  if (experiment.sweep && !is_sweep) fmt::print(stderr, "its `sweep` is left to `simcli sweep`\n");
  Summary summary(experiment);
  SweepSummary sweep(experiment, plan);
  const auto summarize = [&](const RunSpec& s, const RunOutcome& o) {
    summary.add(s, o);
    if (is_sweep) sweep.add(s, o);
  };
  for (const RunSpec& s : plan.runs)
    if (const auto done = there.find(s.id); done != there.end()) summarize(s, done->second);
  Progress progress(experiment, rest, options.progress, common.err);
  RunnerOptions runner{.jobs = jobs, .stop = &g_interrupted};
  runner.on_finished = [&](const RunSpec& s, const RunOutcome& o) { progress.finished(s, o); };
  if (backend.name == kLiveBackend) runner.on_started = [&](const RunSpec& s) { progress.begins(s); };
  const std::size_t delivered =
      run_plan(experiment, rest, run_inputs, policies, runner, [&](const RunSpec& s, const RunOutcome& o) {
        results.write(experiment, plan.hashes, s, o);
        summarize(s, o);
      });
  progress.clear();
  results.close();
  const bool is_cut_short = backend.name == kLiveBackend && g_interrupted;
  const bool is_complete = delivered == rest.runs.size() && !is_cut_short;
  const std::size_t done = there.size() + delivered;
  const bool all_hold = is_sweep ? print_sweep(common, experiment, sweep, summary, output, done)
                                 : print_results(common, experiment, summary, output, done);
  print_trailer(experiment, summary, options, plan, output);
  if (!is_complete) print_stop(options, done, there.size() + rest.runs.size(), is_cut_short);
  return exit_code(summary, done, all_hold, is_complete);
}

std::string worker_beside_this_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "corun-worker").string();
}

int run_command(const CommonOptions& common, const RunOptions& options) {
  return run_in(simulation_backend(), common, options);
}

int execute_command(const CommonOptions& common, const ExecuteCommandOptions& options) {
  executor::ExecuteOptions hardware;
  hardware.worker = options.worker.empty() ? worker_beside_this_program() : options.worker;
  hardware.library = options.driver;
  hardware.device = options.gpu;
  hardware.renders = !options.has_kernel_frames;
  hardware.processors = options.processors;
  hardware.traffic = options.traffic;
  std::optional<executor::MpsDaemon> daemon;
  if (options.under_mps) hardware.mps = &daemon.emplace();
  RunOptions run = options;
  run.jobs = 1;
  return run_in(hardware_backend(hardware), common, run);
}

}  // namespace corun

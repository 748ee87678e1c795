#include "experiments/commands/experiment/experiment_run.h"

#include <algorithm>
#include <map>

#include "experiments/bands/host_in_company.h"
#include "experiments/base/processors.h"
#include "experiments/commands/experiment/interrupts.h"
#include "experiments/commands/experiment/run_report.h"
#include "experiments/results/results.h"
#include "experiments/run/ranges.h"
#include "experiments/run/run_inputs.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

Experiment read_for(const ExecutionBackend& backend, const RunOptions& options, PolicyRegistry& policies) {
  const ExperimentOverrides& overrides = options.experiment.overrides;
  const ExperimentOptions& asked = options.experiment;
  Experiment experiment = asked.text ? parse_experiment(*asked.text, asked.file, overrides, policies)
                                     : read_experiment(asked.file, overrides, policies);
  if (overrides.expands_sweep && experiment.points.empty())
    throw Error(ErrorKind::kInput, {options.experiment.file}, "there is nothing to sweep",
                "give it a section `sweep`, or say what to sweep: `-L pilotfish.margin=100us,300us`");
  for (Scenario& scenario : experiment.scenarios) put_in(backend, scenario);
  if (backend.name != kLiveBackend) experiment = with_host_ranges(std::move(experiment));
  experiment.record.baselines = experiment.record.baselines && !options.skips_baselines;
  return experiment;
}

std::string output_of(const Experiment& experiment, const ResultsOptions& options) {
  if (!options.output.empty()) return options.output;
  return experiment.output.empty() ? experiment.name + ".sqlite" : experiment.output;
}

IfExists if_exists_of(const RunOptions& options) {
  if (options.resumes) return IfExists::kResume;
  return options.results.overwrite ? IfExists::kReplace : IfExists::kFail;
}

/// The runs that are to be done now.
Plan remaining(const Plan& plan, const std::optional<Shard>& shard,
               const std::map<std::string, RunOutcome>& completed) {
  Plan rest{{}, plan.hashes};
  for (std::size_t i = 0; i < plan.runs.size(); ++i)
    if ((!shard || shard->has(i)) && !completed.contains(plan.runs[i].id)) rest.runs.push_back(plan.runs[i]);
  return rest;
}

unsigned jobs_of(const RunOptions& options, const Plan& rest) {
  const std::size_t wanted = options.jobs == 0 ? usable_processors() : options.jobs;
  return static_cast<unsigned>(std::min(wanted, std::max<std::size_t>(rest.runs.size(), 1)));
}

int exit_code(const Summary& summary, std::size_t runs, bool all_hold, bool is_complete) {
  if (!is_complete) return kExitSignal + interrupting_signal();
  const auto& kinds = summary.failure_kinds();
  const bool all_failed_alike = summary.failures() == runs && kinds.size() == 1;
  if (runs > 0 && all_failed_alike) return static_cast<int>(*kinds.begin());
  if (summary.failures() > 0) return kExitSomeFailed;
  return all_hold ? 0 : kExitExpectation;
}

/// `--resume` with what was given, but for what it excludes.
std::vector<std::string> resuming(std::vector<std::string> arguments) {
  std::erase_if(arguments, [](const std::string& argument) {
    return argument == "-f" || argument == "--force" || argument == "--resume";
  });
  arguments.push_back("--resume");
  return arguments;
}

/// What slower hosts change is printed, and no part of the results.
void add_slower_hosts(const Experiment& experiment, const PolicyRegistry& policies, unsigned jobs, RunReport& report) {
  Experiment slower = experiment;
  slower.scenarios.clear();
  slower.record = {.frames = false, .requests = false, .decisions = 0, .baselines = false};
  std::vector<const Scenario*> scenarios;
  for (const Scenario& scenario : experiment.scenarios)
    for (const PolicyChoice& policy : scenario.policies) {
      const auto mean = [&](const std::string& client, std::string_view metric) {
        const auto found = report.summary().get(scenario, policy.label, client, std::string(metric));
        return found ? std::optional(found->mean) : std::nullopt;
      };
      auto its = with_slower_hosts(scenario, policy, mean);
      if (!its) continue;
      scenarios.push_back(&scenario);
      slower.scenarios.push_back(std::move(*its));
    }
  if (slower.scenarios.empty()) return;
  const Plan plan = make_plan(slower);
  RunInputs inputs(slower, plan.hashes, policies);
  run_plan(slower, plan, inputs, policies, {.jobs = jobs, .stop = &interrupted()},
           [&](const RunSpec& spec, const RunOutcome& outcome) {
             report.add_slower(*scenarios[spec.scenario], slower.scenarios[spec.scenario].policies.front().label,
                               outcome);
           });
}

}  // namespace

void add_run_options(Command& command, RunOptions& options) {
  options.can_resume = true;
  command.option("-j,--jobs", &options.jobs, "Runs at a time; one per processor if not given").range(1, 1024);
  command.flag("--resume", &options.resumes, "Resume an interrupted results file").excludes("--force");
}

int run_experiment(const ExecutionBackend& backend, const CommonOptions& common, const RunOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = read_for(backend, options, policies);
  const Plan plan = make_plan(experiment);
  const std::string output = output_of(experiment, options.results);
  check_output(output, if_exists_of(options));
  RunInputs run_inputs(experiment, plan.hashes, policies, backend);
  run_inputs.check();

  ResultsWriter results(output, if_exists_of(options), stored_plan(experiment, plan, options.shard));
  const std::map<std::string, RunOutcome> completed = results.completed_runs();
  const Plan rest = remaining(plan, options.shard, completed);
  const unsigned jobs = jobs_of(options, rest);
  const bool is_live = backend.name == kLiveBackend;
  catch_interrupts(is_live);
  RunReport report(common, experiment, plan, output);
  report.print_begin(jobs, options.shard);
  put_err(options.announcement);
  if (options.resumes) report.print_resumed(completed, results.retried(), rest.runs.size());
  for (const RunSpec& spec : plan.runs)
    if (const auto done = completed.find(spec.id); done != completed.end()) report.add(spec, done->second);

  Progress progress(experiment, rest, options.results.progress, common.err);
  RunnerOptions runner{.jobs = jobs, .stop = &interrupted()};
  runner.on_finished = [&](const RunSpec& spec, const RunOutcome& outcome) { progress.finished(spec, outcome); };
  if (is_live) runner.on_started = [&](const RunSpec& spec) { progress.begins(spec); };
  const std::size_t delivered =
      run_plan(experiment, rest, run_inputs, policies, runner, [&](const RunSpec& spec, const RunOutcome& outcome) {
        results.write(experiment, plan.hashes, spec, outcome);
        report.add(spec, outcome);
      });
  if (options.has_slower_hosts && experiment.points.empty()) add_slower_hosts(experiment, policies, jobs, report);
  progress.clear();
  results.close();

  const bool is_cut_short = is_live && interrupted();
  const bool is_complete = delivered == rest.runs.size() && !is_cut_short;
  const std::size_t done = completed.size() + delivered;
  const bool all_hold = report.print_results(done);
  report.print_trailer();
  if (!is_complete)
    report.print_stop(done, completed.size() + rest.runs.size(), is_cut_short,
                      options.can_resume ? resuming(common.arguments) : std::vector<std::string>{});
  return exit_code(report.summary(), done, all_hold, is_complete);
}

}  // namespace corun

#include "experiments/advise/figures/simulated_means.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/captures_run.h"
#include "experiments/commands/experiment/experiment_run.h"
#include "experiments/commands/output_file.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct RunCommandOptions : RunOptions {
  CapturesWords captures;
};

int run_command(const CommonOptions& common, const RunCommandOptions& options) {
  RunOptions its = options;
  if (names_experiment(options.captures)) {
    its.experiment.file = options.captures.files.front();
  } else {
    its.experiment.file = kMadeExperiment;
    its.experiment.text = captures_experiment(options.captures, options.experiment.overrides.sets);
    its.experiment.overrides.sets.clear();
    const std::string& file = options.captures.write;
    if (file == kStandardOutput) return put_out(*its.experiment.text), 0;
    if (!file.empty()) write_file(file, *its.experiment.text, options.results.overwrite);
  }
  return run_experiment(simulation_backend(), common, its);
}

}  // namespace

void add_run(Commands& commands) {
  auto [command, options] =
      commands.add("run", "Run an experiment, or captures together, and write the results", &run_command);
  command.option("EXPERIMENT", &options.captures.files, "Experiment file (YAML); or captures to run together")
      .required();
  add_override_options(command, options.experiment);
  command.option("--policy", &options.captures.policies, "For captures: a policy, or mps (repeatable)").repeatable();
  command.option("--gpu", &options.captures.gpu, "For captures: a built-in device; h200 if not given");
  command.option("--solo-rate", &options.captures.rates, "For captures: PROGRAM=RATE, alone and untraced (repeatable)")
      .repeatable();
  command
      .option("--write", &options.captures.write,
              "For captures: write the experiment to this file; - prints it and runs nothing")
      .shows_value("FILE");
  command.flag("--slower-hosts", &options.has_slower_hosts,
               "Simulate twice where rates may hang on hosts, which are often slower in company: these are ranges");
  add_results_options(command, options.results);
  add_run_options(command, options);
}

}  // namespace corun

#include "experiments/commands/experiment/experiment_options.h"

namespace corun {

void add_experiment_options(Command& command, ExperimentOptions& options) {
  command.option("EXPERIMENT", &options.file, "Experiment file (YAML)").required();
  add_override_options(command, options);
}

void add_override_options(Command& command, ExperimentOptions& options) {
  ExperimentOverrides& overrides = options.overrides;
  command.option("--set", &overrides.sets, "Change a value: clients.game.pacing=60fps (repeatable)").repeatable();
  command.option("--seed", &overrides.seeds, "Use this seed in place of those of the file (repeatable)").repeatable();
  command.duration("--until", &overrides.until, Duration{1}, "2s", "Shorten every longer horizon to this");
}

void add_sweep_option(Command& command, ExperimentOptions& options) {
  command
      .option("-L,--list", &options.overrides.sweeps,
              "Sweep a parameter: pilotfish.margin=100us,300us or 'x={from: 1, to: 5, step: 1}' (repeatable)")
      .repeatable();
}

void add_results_options(Command& command, ResultsOptions& options) {
  command.option("-o,--output", &options.output, "Results file (SQLite)");
  command.flag("-f,--force", &options.overwrite, "Replace an existing results file");
  command.choice("--progress", &options.progress,
                 {{"auto", ProgressStyle::kAuto}, {"plain", ProgressStyle::kPlain}, {"none", ProgressStyle::kNone}},
                 "auto, plain or none");
}

}  // namespace corun

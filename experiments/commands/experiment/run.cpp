#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_run.h"

namespace corun {

namespace {

int run_command(const CommonOptions& common, const RunOptions& options) {
  return run_experiment(simulation_backend(), common, options);
}

}  // namespace

void add_run(Commands& commands) {
  auto [command, options] = commands.add("run", "Run an experiment and write its results", &run_command);
  add_experiment_options(command, options.experiment);
  add_results_options(command, options.results);
  add_run_options(command, options);
}

}  // namespace corun

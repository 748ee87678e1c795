#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_run.h"

namespace corun {

namespace {

int sweep_command(const CommonOptions& common, const RunOptions& options) {
  return run_experiment(simulation_backend(), common, options);
}

void add_shard_option(Command& command, std::optional<Shard>& shard) {
  const auto parse = [&shard](const std::string& text) {
    shard = parse_shard(text);
    if (!shard) reject_value("--shard", "which of how many is expected, from 1/3 to 3/3 for example");
  };
  command.parsed("--shard", parse, "Do this part of the runs: 2/3; `simcli merge` puts the parts together");
}

}  // namespace

void add_sweep(Commands& commands) {
  auto [command, options] = commands.add("sweep", "Run an experiment at every point of its `sweep`", &sweep_command);
  options.experiment.overrides.expands_sweep = true;
  add_experiment_options(command, options.experiment);
  add_results_options(command, options.results);
  add_sweep_option(command, options.experiment);
  add_run_options(command, options);
  add_shard_option(command, options.shard);
}

}  // namespace corun

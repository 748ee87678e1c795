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
    if (!shard) reject_value("--shard", "K/N is expected, with K from 1 to N, for example 2/3");
  };
  command.parsed("--shard", parse, "Run shard K of N (e.g. 2/3); `simcli merge` merges the shards");
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

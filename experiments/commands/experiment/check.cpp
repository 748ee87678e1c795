#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/counted.h"
#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/run/run_inputs.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

int check_command(const CommonOptions& common, const ExperimentOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = read_experiment(options.file, options.overrides, policies);
  const Plan plan = make_plan(experiment);
  RunInputs run_inputs(experiment, plan.hashes, policies);
  run_inputs.check();
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("valid", true).field("runs", plan.runs.size());
    if (!experiment.points.empty()) json.field("points", experiment.points.size());
    json.end();
    print_out("{}\n", json.text());
  } else {
    const std::size_t points = experiment.points.size();
    const std::size_t scenarios = experiment.scenarios.size() / std::max<std::size_t>(points, 1);
    print_out("{}: {}{}, {}, OK\n", printable(options.file), counted(scenarios, "scenario"),
              points > 0 ? fmt::format(" at {}", counted(points, "point")) : "", counted(plan.runs.size(), "run"));
  }
  return 0;
}

}  // namespace

void add_check(Commands& commands) {
  auto [command, options] =
      commands.add("check", "Check an experiment and the traces it names without running it", &check_command);
  options.overrides.expands_sweep = true;
  add_experiment_options(command, options);
  add_sweep_option(command, options);
}

}  // namespace corun

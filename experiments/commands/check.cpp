#include <fmt/format.h>

#include <algorithm>

#include "experiments/commands/commands.h"
#include "experiments/base/json.h"
#include "experiments/run/run_inputs.h"

namespace corun {

int check_command(const CommonOptions& common, ExperimentOptions options) {
  options.overrides.expands_sweep = true;
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
    fmt::print("{}\n", json.text());
  } else {
    const std::size_t points = experiment.points.size();
    const std::size_t scenarios = experiment.scenarios.size() / std::max<std::size_t>(points, 1);
    fmt::print("{}: {}{}, {}, nothing wrong\n", printable(options.file), counted(scenarios, "scenario"),
               points > 0 ? fmt::format(" at {}", counted(points, "point")) : "", counted(plan.runs.size(), "run"));
  }
  return 0;
}

}  // namespace corun

#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/json.h"
#include "experiments/materials.h"

namespace corun {

int check_command(const CommonOptions& common, const ExperimentOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = read_experiment(options.file, options.overrides, policies);
  const Plan plan = make_plan(experiment);
  Materials materials(experiment, plan.hashes, policies);
  materials.check();
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("valid", true).field("runs", plan.runs.size()).end();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}: {} scenario{}, {} runs, nothing wrong\n", printable(options.file), experiment.scenarios.size(),
               experiment.scenarios.size() == 1 ? "" : "s", plan.runs.size());
  }
  return 0;
}

}  // namespace corun

#include "experiments/run/plan.h"

#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/counted.h"
#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/run/ranges.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"

namespace corun {

namespace {

void add_points(Json& json, const Experiment& experiment, const Plan& plan) {
  json.key("points").array();
  for (const std::vector<PointValue>& point : experiment.points) {
    json.object();
    for (const PointValue& value : point) json.field(value.parameter, value.text);
    json.end();
  }
  json.end().key("planned_runs").array();
  for (const Plan::Place& place : plan.places)
    json.object().field("point", *place.point).field("run", plan.runs[place.run].id).end();
  json.end();
}

void print_json(const Experiment& experiment, const Plan& plan) {
  Json json;
  json.object()
      .field("schema_version", 1)
      .field("experiment", experiment.name)
      .field("engine_version", engine_version());
  json.key("inputs").object();
  for (const auto& [path, hash] : plan.hashes) json.field(path, hash);
  json.end().key("runs").array();
  for (const RunSpec& spec : plan.runs) {
    const Scenario& scenario = experiment.scenarios[spec.scenario];
    const PolicyChoice& policy = scenario.policies[spec.policy];
    json.object().field("id", spec.id).field("scenario", scenario.name).field("policy", policy.label);
    json.key("parameters").object();
    for (const auto& [name, value] : policy.parameters.values()) json.field(name, format_parameter(value));
    json.end().key("adjustments").array();
    for (const Adjustment& adjustment : policy.adjustments)
      json.object()
          .field("at_ns", to_ns(adjustment.at))
          .field("parameter", adjustment.parameter)
          .field("value", format_parameter(adjustment.value))
          .end();
    json.end().field("seed", spec.seed).field("device", scenario.device.name);
    json.field("horizon_ns", to_ns(scenario.horizon)).field("warmup_ns", to_ns(scenario.warmup_or_default())).end();
  }
  json.end();
  if (!experiment.points.empty()) add_points(json, experiment, plan);
  print_out("{}\n", json.end().text());
}

void print_points(const CommonOptions& common, const Experiment& experiment) {
  std::vector<std::vector<std::string>> rows = {{"point"}};
  for (const PointValue& value : experiment.points.front()) rows[0].push_back(printable(value.parameter));
  for (const std::vector<PointValue>& point : experiment.points) {
    rows.push_back({std::to_string(rows.size() - 1)});
    for (const PointValue& value : point) rows.back().push_back(printable(value.text));
  }
  print_out("{}{}\n\n", aligned(rows, {0}, common.out.table_width()), counted(experiment.points.size(), "point"));
}

int plan_command(const CommonOptions& common, const ExperimentOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = with_host_ranges(read_experiment(options.file, options.overrides, policies));
  const Plan plan = make_plan(experiment);
  if (common.json) {
    print_json(experiment, plan);
    return 0;
  }
  if (!experiment.points.empty()) print_points(common, experiment);
  std::vector<std::vector<std::string>> rows = {{"run", "scenario", "policy", "seed", "horizon", "id"}};
  Duration total{};
  for (const RunSpec& spec : plan.runs) {
    const Scenario& scenario = experiment.scenarios[spec.scenario];
    total += scenario.horizon;
    rows.push_back({std::to_string(rows.size()), printable(scenario.name),
                    printable(scenario.policies[spec.policy].label), std::to_string(spec.seed),
                    format_duration(scenario.horizon), spec.id});
  }
  print_out("{}{} runs, {} simulated\n", aligned(rows, {0, 3}, common.out.table_width()), plan.runs.size(),
            format_duration(total));
  return 0;
}

}  // namespace

void add_plan(Commands& commands) {
  auto [command, options] = commands.add("plan", "List the runs of an experiment", &plan_command);
  options.overrides.expands_sweep = true;
  add_experiment_options(command, options);
  add_sweep_option(command, options);
}

}  // namespace corun

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/counted.h"
#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/run/ranges.h"
#include "experiments/run/run_inputs.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

/// Names the client that is replayed alone, on a terminal, once that takes longer than a glance.
class ReplayProgress {
 public:
  explicit ReplayProgress(const Terminal& terminal) : is_shown_(terminal.is_interactive) {}
  void begins(const std::string& client) {
    const bool is_long = std::chrono::steady_clock::now() - began_ > std::chrono::seconds(1);
    if (!is_shown_ || !is_long) return;
    print_err("\r\033[Kreplaying {} alone", printable(client));
    std::fflush(stderr);
    has_printed_ = true;
  }
  void clear() const {
    if (has_printed_) print_err("\r\033[K");
  }

 private:
  const bool is_shown_;
  bool has_printed_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

int check_command(const CommonOptions& common, const ExperimentOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = with_host_ranges(read_experiment(options.file, options.overrides, policies));
  const Plan plan = make_plan(experiment);
  RunInputs run_inputs(experiment, plan.hashes, policies);
  ReplayProgress progress(common.err);
  run_inputs.check([&](const ClientChoice& client) { progress.begins(client.name); });
  progress.clear();
  const std::vector<std::string> warnings = run_inputs.warnings();
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("valid", true).field("runs", plan.runs.size());
    if (!experiment.points.empty()) json.field("points", experiment.points.size());
    json.key("warnings").array();
    for (const std::string& warning : warnings) json.value(warning);
    json.end().end();
    print_out("{}\n", json.text());
  } else {
    for (const std::string& warning : warnings) print_err("warning: {}\n", printable(warning));
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

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>

#include "experiments/base/processors.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/commands/hardware/hardware_options.h"
#include "experiments/commands/hardware/programs.h"
#include "experiments/validate/json.h"
#include "experiments/validate/validator.h"
#include "policies/builtin.h"
#include "sim/executor/host/mps_daemon.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

/// Predictions against measurements on hardware.
struct ValidateOptions {
  ExperimentOptions experiment;
  ResultsOptions results;
  HardwareOptions hardware;
  unsigned jobs = 0;                ///< simulations at a time; 0 = one per processor
  Duration window{20'000'000'000};  ///< most that is measured of a run
  unsigned repetitions = 5;
  std::vector<std::string> seen;  ///< scenarios that models could have been fitted to
  bool only_predicts = false;
  std::vector<std::string> only;      ///< scenarios; empty = all
  std::vector<std::string> measured;  ///< results files with what was measured before; empty = measure now
  std::string report = "VALIDATION.md";
  bool has_no_budget = false;
  bool has_no_canary = false;
  bool is_live = false;  ///< measures the clients' commands in place of surrogates
};

void check_scenario(const Experiment& experiment, const std::string& name, std::string_view option) {
  const auto names = experiment.scenarios | std::views::transform(&Scenario::name);
  if (std::ranges::find(names, name) == names.end())
    throw_input({experiment.file}, "`{}`: there is no scenario `{}`; there are `{}`", option, name,
                fmt::join(names, "`, `"));
}

Experiment read(const ValidateOptions& options, PolicyRegistry& policies) {
  Experiment experiment = read_experiment(options.experiment.file, options.experiment.overrides, policies);
  for (const std::string& name : options.seen) check_scenario(experiment, name, "--seen");
  for (const std::string& name : options.only) check_scenario(experiment, name, "--only");
  for (Scenario& scenario : experiment.scenarios) {
    scenario.is_seen = scenario.is_seen || std::ranges::find(options.seen, scenario.name) != options.seen.end();
    // Surrogates all ask for the largest carve-out, so that none is in another's way; programs do as they like.
    if (!options.is_live) scenario.device.carveout_change = CarveoutChange::kAnyTime;
  }
  return experiment;
}

validation::ValidatorOptions validator_options(const CommonOptions& common, const ValidateOptions& options,
                                               const Experiment& experiment) {
  validation::ValidatorOptions out;
  out.window = options.window;
  out.keeps_warmup = options.is_live;
  out.only = options.only;
  out.repetitions = options.repetitions;
  out.jobs = options.jobs > 0 ? options.jobs : usable_processors();
  out.has_canary = !options.has_no_canary && !options.is_live;
  out.has_budget = !options.has_no_budget;
  if (!options.is_live) out.predicted_in = surrogate_backend();
  out.output = options.results.output.empty() ? experiment.name + ".sqlite" : options.results.output;
  out.overwrite = options.results.overwrite;
  out.report = options.report;
  out.measured = options.measured;
  out.device = options.hardware.device.gpu;
  out.progress = options.results.progress;
  out.terminal = common.err;
  return out;
}

/// Cells that share the device at once get a private daemon, started with the first of them; all others take turns.
ExecutionBackend gpu_backend(const ValidateOptions& options) {
  const executor::ExecuteOptions hardware = execute_options(options.hardware);
  const ExecutionBackend taking_turns = hardware_backend(hardware);
  const auto daemon = std::make_shared<std::unique_ptr<executor::MpsDaemon>>();
  return {taking_turns.name,
          [=](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) -> RunResult {
            if (input.device.sharing != Sharing::kConcurrent) return taking_turns.run(input, recorder, notes);
            if (*daemon == nullptr) *daemon = std::make_unique<executor::MpsDaemon>();
            executor::ExecuteOptions at_once = hardware;
            at_once.mps = daemon->get();
            return hardware_backend(at_once).run(input, recorder, notes);
          }};
}

int exit_code(const validation::ValidationResult& result) {
  const bool is_whole = std::ranges::none_of(
      result.rows, [](const validation::ScoreRow& row) { return row.verdict == validation::Verdict::kMissing; });
  if (!is_whole) return kExitSomeFailed;
  return validation::meets_goals(result) ? 0 : kExitExpectation;
}

int validate_command(const CommonOptions& common, const ValidateOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment = read(options, policies);
  const bool measures = !options.only_predicts && options.measured.empty();
  std::optional<ExecutionBackend> backend;
  if (measures) backend = options.is_live ? backend_of_programs({}) : gpu_backend(options);  // says now what is missing
  const validation::ValidatorOptions its = validator_options(common, options, experiment);
  validation::Validator validator(experiment, policies, its);
  validator.predict();
  if (options.only_predicts) {
    validator.close();
    return 0;
  }
  if (backend) validator.measure(*backend);
  const validation::ValidationResult& result = validator.score();
  put_out(common.json ? validation_json(validator.validation(), result) + "\n"
                      : validation_table(result, common.out.table_width()));
  flush_out();
  print_err("report: {}\nresults: {}\n", printable(its.report), printable(its.output));
  return exit_code(result);
}

}  // namespace

void add_validate(Commands& commands) {
  auto [command, options] = commands.add(
      "validate", "Predict an experiment, measure it on a GPU, and score the predictions", &validate_command);
  add_experiment_options(command, options.experiment);
  add_results_options(command, options.results);
  command.duration("--window", &options.window, Duration{1}, "5s", "Longest measured part of a run, after its warm-up")
      .shows_default("20s");
  command.option("--repetitions", &options.repetitions, "Runs of every cell, interleaved")
      .range(1, 1000)
      .shows_default("5");
  command.option("--seen", &options.seen, "A scenario that models could have been fitted to (repeatable)").repeatable();
  command.flag("--predict-only", &options.only_predicts, "Write the predictions and their hash");
  command.option("--only", &options.only, "A scenario to validate; all if not given (repeatable)").repeatable();
  command.option("--measured", &options.measured, "Score what this results file holds; needs no GPU (repeatable)")
      .repeatable()
      .excludes("--predict-only");
  command.option("--report", &options.report, "Where the report goes").shows_default(options.report);
  command.flag("--no-budget", &options.has_no_budget, "Leave out the error budget, which takes simulations");
  command.flag("--no-canary", &options.has_no_canary, "Leave out the half second of fixed work before each run");
  command.option("-j,--jobs", &options.jobs, "Simulations at a time; one per processor if not given").range(1, 1024);
  command.flag("--live", &options.is_live, "Measure the clients' commands themselves, gated as by `live`");
  add_hardware_options(command, options.hardware);
  add_kernel_frames_option(command, options.hardware);
}

}  // namespace corun

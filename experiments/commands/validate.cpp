#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>

#include "experiments/commands/commands.h"
#include "experiments/base/processors.h"
#include "experiments/validate/json.h"
#include "experiments/validate/validator.h"
#include "sim/executor/host/mps_daemon.h"

namespace corun {

namespace {

void check_scenario(const Experiment& experiment, const std::string& name, std::string_view option) {
  const auto names = experiment.scenarios | std::views::transform(&Scenario::name);
  if (std::ranges::find(names, name) == names.end())
    throw_input({experiment.file}, "`{}`: there is no scenario `{}`; there are `{}`", option, name,
                fmt::join(names, "`, `"));
}

Experiment read(const ValidateOptions& options, PolicyRegistry& policies) {
  Experiment experiment = read_experiment(options.file, options.overrides, policies);
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
  out.output = options.output.empty() ? experiment.name + ".sqlite" : options.output;
  out.overwrite = options.overwrite;
  out.report = options.report;
  out.measured = options.measured;
  out.device = options.gpu;
  out.progress = options.progress;
  out.terminal = common.err;
  return out;
}

/// Cells that share the device at once get a private daemon, started with the first of them; all others take turns.
ExecutionBackend gpu_backend(const ValidateOptions& options) {
  executor::ExecuteOptions hardware;
  hardware.worker = options.worker.empty() ? worker_beside_this_program() : options.worker;
  hardware.library = options.driver;
  hardware.device = options.gpu;
  hardware.renders = !options.has_kernel_frames;
  hardware.processors = options.processors;
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

}  // namespace

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
  fmt::print("{}", common.json ? validation_json(validator.validation(), result) + "\n" : validation_table(result));
  std::fflush(stdout);
  fmt::print(stderr, "report: {}\nresults: {}\n", printable(its.report), printable(its.output));
  return exit_code(result);
}

}  // namespace corun

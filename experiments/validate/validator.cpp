#include "experiments/validate/validator.h"

#include <filesystem>
#include <fstream>

#include "traces/base/streams.h"

namespace corun::validation {

namespace {

std::vector<EarlierValidation> read_all(const std::vector<std::string>& files) {
  std::vector<EarlierValidation> all;
  for (const std::string& file : files) all.push_back(read_earlier(file));
  return all;
}

/// Reads what may be wrong before anything is simulated.
const Experiment& checked(const Experiment& experiment, const ValidatorOptions& options) {
  check_output(options.output, options.overwrite);
  return experiment;
}

double horizons_s(const Experiment& experiment, const std::vector<RunSpec>& runs) {
  double seconds = 0;
  for (const RunSpec& run : runs) seconds += to_seconds(experiment.scenarios[run.scenario].horizon);
  return seconds;
}

}  // namespace

Validator::Validator(const Experiment& experiment, const PolicyRegistry& policies, const ValidatorOptions& options)
    : options_(options),
      earlier_(read_all(options.measured)),
      validation_(checked(experiment, options), policies, options),
      results_(options.output, options.overwrite ? IfExists::kReplace : IfExists::kFail, stored_question(experiment)) {
  facts_.window_s = to_seconds(options.window);
  facts_.backend = "nothing";
}

std::string Validator::predictions_path() const {
  return std::filesystem::path(options_.output).replace_extension(".predictions.json").string();
}

Deliver Validator::into_results(Progress& progress) {
  return [&](const Experiment& experiment, const RunSpec& spec, const RunOutcome& outcome) {
    results_.write(experiment, validation_.hashes(), spec, outcome);
    progress.finished(spec, outcome);
  };
}

void Validator::predict() {
  const Plan plan{prediction_runs(validation_.experiment(), validation_.cells(), validation_.hashes()), {}};
  print_err("{}   {} cells   {} runs in simulation   {}\n", printable(validation_.experiment().name),
            validation_.cells().size(), plan.runs.size(), printable(options_.output));
  Progress progress(validation_.experiment(), plan, options_.progress, options_.terminal);
  validation_.predict(into_results(progress));
  progress.clear();
  store_predictions(options_.output, validation_.predictions());
  write_predictions(validation_.predictions(), predictions_path());
  print_err("predictions: {}   SHA-256 {}\n", printable(predictions_path()), validation_.predictions().sha256);
}

void Validator::measure(const ExecutionBackend& backend) {
  const Plan plan{validation_.measurement(backend.name), {}};
  print_err("measuring: {} runs, {:.0f} s and what their clients take to start\n", plan.runs.size(),
            horizons_s(validation_.experiment(), plan.runs));
  DeviceMonitor monitor(options_.device);
  facts_.backend = backend.name;
  facts_.monitor_absence = monitor.absence();
  DeviceState state;
  Progress progress(validation_.experiment(), plan, options_.progress, options_.terminal);
  const Deliver deliver = into_results(progress);
  validation_.measure(watched(backend, monitor, state), &state,
                      [&](const Experiment& experiment, const RunSpec& spec, const RunOutcome& outcome) {
                        deliver(experiment, spec, outcome);
                        store_state(options_.output, spec.id, state);
                      });
  progress.clear();
}

const ValidationResult& Validator::score() {
  for (const EarlierValidation& earlier : earlier_) {
    facts_.is_scored_again = true;
    facts_.backend = earlier.backend;
    facts_.sha256_of_earlier.push_back(earlier.sha256);
    for (const MeasuredRun& run : earlier.runs) validation_.add_measured(run);
    for (const auto& [cell, state] : earlier.states) validation_.add_state(cell, state);
  }
  result_ = validation_.score();
  store_scores(options_.output, result_);
  results_.close();
  std::ofstream stream(options_.report, std::ios::binary);
  stream << validation_report(validation_, result_, facts_);
  stream.close();
  if (!stream) throw Error(ErrorKind::kDevice, {options_.report}, "the report cannot be written");
  return result_;
}

}  // namespace corun::validation

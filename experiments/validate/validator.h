#pragma once

#include <string>
#include <vector>

#include "experiments/results/results.h"
#include "experiments/summary/progress.h"
#include "experiments/validate/report.h"
#include "experiments/validate/tables.h"

namespace corun::validation {

struct ValidatorOptions : ValidationOptions {
  std::string output;  ///< results file
  bool overwrite = false;
  std::string report;                 ///< "VALIDATION.md"
  std::vector<std::string> measured;  ///< results files with what was measured before
  int device = 0;                     ///< to watch, as nvidia-smi counts
  ProgressStyle progress = ProgressStyle::kAuto;
  Terminal terminal;  ///< for the progress
};

/// A validation with everything that is written: predictions first, as `<output>.predictions.json` and in the results
/// file, then each measured run as it ends, then scores and report. Progress is shown on stderr.
class Validator {
 public:
  /// Throws where the experiment cannot be validated, a file cannot be read, or the output is in the way; nothing is
  /// written then. `policies` must outlive it.
  Validator(const Experiment& experiment, const PolicyRegistry& policies, const ValidatorOptions& options);

  /// Simulates and publishes; nothing is measured before.
  void predict();
  /// Measures in `backend`, one run at a time. After predict().
  void measure(const ExecutionBackend& backend);
  /// Scores what was measured now or before, stores that and writes the report. After predict().
  const ValidationResult& score();
  /// Ends without scores.
  void close() { results_.close(); }

  const Validation& validation() const { return validation_; }
  std::string predictions_path() const;

 private:
  Deliver into_results(Progress& progress);

  const ValidatorOptions options_;
  std::vector<EarlierValidation> earlier_;
  Validation validation_;
  ResultsWriter results_;
  ReportFacts facts_;
  ValidationResult result_;
};

}  // namespace corun::validation

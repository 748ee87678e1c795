#pragma once

#include <string>
#include <vector>

#include "experiments/validate/validation.h"

namespace corun::validation {

/// The tables that a validation adds to a results file (docs/results.md). Each function opens the file for itself and
/// throws Error(kDevice) where writing fails.

/// Before anything is measured: the predictions with their hash.
void store_predictions(const std::string& results, const Predictions& predictions);

/// The device's state during a measured run.
void store_state(const std::string& results, const std::string& run, const DeviceState& state);

/// Scores, null models and error budget.
void store_scores(const std::string& results, const ValidationResult& result);

/// What an earlier validation's results file holds.
struct EarlierValidation {
  std::vector<MeasuredRun> runs;  ///< those in another backend than simulation, in their order
  std::vector<std::pair<CellKey, DeviceState>> states;
  std::string backend;  ///< where they took place
  std::string sha256;   ///< of the predictions that were stored before these runs; empty = there were none
};

/// Throws Error(kInput) where the file is no results file or has no run in another backend.
EarlierValidation read_earlier(const std::string& results);

}  // namespace corun::validation

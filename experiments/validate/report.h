#pragma once

#include <string>
#include <vector>

#include "experiments/base/table.h"
#include "experiments/validate/validation.h"

namespace corun::validation {

/// What the report says in addition to the scores.
struct ReportFacts {
  std::string backend;  ///< where it was measured
  /// By earlier validation, of the predictions stored before its measurements; empty where there were none.
  std::vector<std::string> sha256_of_earlier;
  bool is_scored_again = false;  ///< measurements are from an earlier validation
  std::string monitor_absence;   ///< why the device's state was not read; empty where it was
  double window_s = 0.0;
};

/// VALIDATION.md. Same validation, same bytes.
std::string validation_report(const Validation& validation, const ValidationResult& result, const ReportFacts& facts);

/// The table of groups for a terminal, and the sentences that follow from it.
std::string validation_table(const ValidationResult& result, std::size_t width = kAnyWidth);

/// Whether every group that was scored meets its goal.
bool meets_goals(const ValidationResult& result);

}  // namespace corun::validation

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/statistics/statistics.h"
#include "experiments/validate/scoring/cells.h"

namespace corun::validation {

enum class Verdict : std::uint8_t {
  kInsideNoise,  ///< the measured value cannot be distinguished from the prediction
  kWithinGoal,
  kOutside,
  kTooFewFrames,  ///< for a 99th percentile: fewer than 500 in a run
  kMissing,       ///< not predicted or not measured
};
std::string_view to_string(Verdict verdict);  ///< "inside noise", "within goal", "outside", "too few frames", "missing"

/// (predicted - measured) / measured; where nothing was measured, 0 for none predicted and 1 for some.
double relative_error(double predicted, double measured);

/// What a rule without a simulator says of a figure.
struct NullFigure {
  std::string model;
  double value = 0.0;
};

/// One predicted figure against the measured one.
struct ScoreRow {
  CellKey cell;
  std::string client;
  std::string metric;
  Tier tier = Tier::kTimeSliced;
  Bound bound = Bound::kDevice;
  bool is_seen = false;
  Goal goal;
  std::optional<Estimate> predicted{}, measured{};
  double error = 0.0;  ///< (predicted - measured) / measured, 0 where one is missing; 1 where only the latter is 0
  double noise = 0.0;  ///< the noise floor over the measured mean: half of the 95 % interval of what was measured less
                       ///< what was predicted, run by run, where both have the same seeds; else of what was measured
  Verdict verdict = Verdict::kMissing;
  std::vector<NullFigure> nulls{};  ///< of rates and times; empty for what is measured against a solo run anyway

  bool has_error() const { return verdict != Verdict::kMissing; }
  bool is_decided() const { return has_error() && verdict != Verdict::kTooFewFrames; }
  double error_of(const NullFigure& null) const { return relative_error(null.value, measured->mean); }
};

/// Scores every figure that has a goal, in the order of the cells. `without_losses` holds the predictions of concurrent
/// cells by block dispatch alone, another null model. Null models start from the predicted rates alone; only the linear
/// model knows measurements: those of other cells.
std::vector<ScoreRow> score(const std::vector<Cell>& cells, const Figures& predicted, const Figures& measured,
                            const Figures& without_losses);

/// How far the rates of a client alone lay apart: half of the range over the mean; 0 for fewer than two.
double spread_alone(const CellClient& client, const Figures& measured);

/// A figure as it is scored: those that no single run has (kAddedDelay, kRateKept) are made of two.
std::vector<double> scored_values(const Figures& figures, const Cell& cell, const CellClient& client,
                                  const std::string& metric);

}  // namespace corun::validation

#pragma once

#include <vector>

#include "experiments/identify/evidence.h"

namespace corun::identification {

/// A hypothesis with how likely it is; weights of all sum to 1.
struct Weighted {
  Hypothesis hypothesis;
  double weight = 0.0;
};

/// Bits of what is not known about which hypothesis holds.
double entropy_bits(const std::vector<double>& weights);

/// Bits by which a trial is expected to lessen that: mean over the hypotheses, as likely as they are, of what would be
/// left if the trial came out as the hypothesis predicts.
double expected_bits(const std::vector<Weighted>& hypotheses, const Trial& trial, Predictions& predictions,
                     const Noise& noise);

/// The trial of which most information is expected.
struct Choice {
  const Trial* trial = nullptr;  ///< null where there is none left
  double bits = 0.0;
};
Choice choose_trial(const std::vector<Weighted>& hypotheses, const std::vector<const Trial*>& trials,
                    Predictions& predictions, const Noise& noise);

}  // namespace corun::identification

#include "experiments/identify/design.h"

#include <cmath>

namespace corun::identification {

namespace {

/// Weights after a trial came out as `truth` predicts.
std::vector<double> weights_if(const Hypothesis& truth, const std::vector<Weighted>& hypotheses, const Trial& trial,
                               Predictions& predictions, const Noise& noise) {
  const Figures& outcome = predictions.of(truth, trial);
  std::vector<double> weights;
  double sum = 0;
  for (const auto& [hypothesis, weight] : hypotheses) {
    weights.push_back(weight * std::exp(log_likelihood(outcome, predictions.of(hypothesis, trial), noise)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

double entropy_bits(const std::vector<double>& weights) {
  double bits = 0;
  for (const double weight : weights)
    if (weight > 0) bits -= weight * std::log2(weight);
  return bits;
}

double expected_bits(const std::vector<Weighted>& hypotheses, const Trial& trial, Predictions& predictions,
                     const Noise& noise) {
  std::vector<double> now;
  double left = 0;
  for (const auto& [hypothesis, weight] : hypotheses) {
    now.push_back(weight);
    left += weight * entropy_bits(weights_if(hypothesis, hypotheses, trial, predictions, noise));
  }
  return entropy_bits(now) - left;
}

Choice choose_trial(const std::vector<Weighted>& hypotheses, const std::vector<const Trial*>& trials,
                    Predictions& predictions, const Noise& noise) {
  std::vector<Hypothesis> asked;
  for (const Weighted& weighted : hypotheses) asked.push_back(weighted.hypothesis);
  predictions.prepare(asked, trials);
  Choice best;
  for (const Trial* trial : trials) {
    const double bits = expected_bits(hypotheses, *trial, predictions, noise);
    if (best.trial == nullptr || bits > best.bits) best = {trial, bits};
  }
  return best;
}

}  // namespace corun::identification

#include "experiments/identify/design.h"

#include <cmath>

namespace corun::identification {

namespace {

/// Weights after a trial came out as `outcome`; `figures` are what each hypothesis says of it.
std::vector<double> weights_if(const Figures& outcome, const std::vector<Weighted>& hypotheses,
                               const std::vector<const Figures*>& figures, const Noise& noise) {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    weights.push_back(hypotheses[i].weight * std::exp(log_likelihood(outcome, *figures[i], noise)));
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
  std::vector<const Figures*> figures;
  for (const Weighted& weighted : hypotheses) figures.push_back(&predictions.of(weighted.hypothesis, trial));
  std::vector<double> now;
  double left = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    now.push_back(hypotheses[i].weight);
    left += hypotheses[i].weight * entropy_bits(weights_if(*figures[i], hypotheses, figures, noise));
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

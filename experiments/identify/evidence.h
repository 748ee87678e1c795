#pragma once

#include <vector>

#include "experiments/identify/figures.h"

namespace corun::identification {

/// By how much a figure may be off although the rule is right: standard deviation of what the model leaves out.
struct Noise {
  double relative = 0.02;     ///< of the figure
  double absolute_ms = 0.02;  ///< and this
};

/// Measured less predicted, in standard deviations of the noise and of both scatters together.
double deviation(const Figure& measured, const Figure& predicted, const Noise& noise);

/// Logarithm of the likelihood of what was measured, less a constant: Student's t with four degrees of freedom for each
/// figure, so that no single bad one decides. What a model leaves out moves all figures of a client together, so they
/// count as one: their mean.
double log_likelihood(const Figures& measured, const Figures& predicted, const Noise& noise);

/// How far off the prediction of one client is, of the client that is predicted worst: root mean square of its figures'
/// deviations, each counted as 6 at most. About 1 where the prediction is right.
double misfit(const Figures& measured, const Figures& predicted, const Noise& noise);

/// A trial that was run.
struct TrialRun {
  Trial trial;
  Figures measured;
};

/// What the trials that were run say for and against hypotheses.
class Evidence {
 public:
  Evidence(Predictions& predictions, const Noise& noise) : predictions_(predictions), noise_(noise) {}

  void add(TrialRun run);
  const std::vector<TrialRun>& runs() const { return runs_; }
  const Noise& noise() const { return noise_; }
  Predictions& predictions() const { return predictions_; }

  /// Simulates what support() needs, on every processor.
  void prepare(const std::vector<Hypothesis>& hypotheses) const;
  /// Logarithm of the likelihood of all that was measured.
  double support(const Hypothesis& hypothesis) const;
  /// Mean square of all deviations, counted as in misfit(), at least 1: where even the best hypothesis is off by more
  /// than the noise, all is that much noisier.
  double excess(const Hypothesis& best) const;

 private:
  Predictions& predictions_;
  Noise noise_;
  std::vector<TrialRun> runs_;
};

}  // namespace corun::identification

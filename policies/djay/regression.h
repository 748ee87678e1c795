#pragma once

#include <cstddef>
#include <vector>

namespace corun {

/// Recursive least squares that are pulled towards zero: the coefficients that minimise
///
///     sum over lessons of (y - theta . x)^2  +  ridge * |theta|^2,
///
/// brought up to date by every lesson in time and memory quadratic in the number of features. Seen as a Kalman filter,
/// each coefficient is a normal variable that begins with mean 0 and variance 1 / ridge, and y is measured with
/// variance 1; all variances below are in units of that. With ridge near 0 it is ordinary least squares.
class RidgeRegression {
 public:
  using Features = std::vector<double>;  ///< one number per feature

  /// `ridge` > 0.
  explicit RidgeRegression(double ridge) : prior_variance_(1.0 / ridge) {}

  std::size_t size() const { return coefficients_.size(); }
  /// Adds features, behind the others, of which nothing is known.
  void grow(std::size_t count);
  /// Nothing is known of that feature any more.
  void forget(std::size_t feature);
  /// What was learned fades: weight `keep` in (0, 1] for it, the rest for "nothing is known"; 1 keeps everything.
  /// However often it is called, no variance rises above 1 / ridge, so that features that are never taught do not wind
  /// up.
  void fade(double keep);
  /// That coefficient may have moved by a random step of this variance since the last lesson.
  void wander(std::size_t feature, double variance);

  /// `x` had the answer `y`.
  void learn(const Features& x, double y);
  double predict(const Features& x) const;
  /// How uncertain predict(x) is, without the noise of a measurement.
  double variance(const Features& x) const;

 private:
  const double prior_variance_;
  std::vector<double> coefficients_;
  std::vector<double> covariance_;  // (features x features), symmetric
};

}  // namespace corun

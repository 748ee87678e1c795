#pragma once

#include <span>

namespace corun {

/// Mean of a sample with its 95 % Student-t interval.
struct Estimate {
  double mean = 0.0;
  double low = 0.0, high = 0.0;  ///< equal to the mean where there is one value only
  std::size_t count = 0;
};

/// Of at least one value.
Estimate estimate(std::span<const double> values);

/// The two-sided 95 % quantile of Student's t with `degrees` >= 1 degrees of freedom: 12.706 for 1, 1.960 in the limit.
double student_t_95(unsigned degrees);
/// Probability that Student's t with `degrees` degrees of freedom is at most `t`.
double student_t_probability(double t, unsigned degrees);

}  // namespace corun

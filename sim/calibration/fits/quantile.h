#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace corun::calibration {

/// The quantile `q` [0, 1] of at least one value, between neighbours in proportion.
double quantile(std::vector<double> values, double q);
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// A value with the range in which most of what it was concluded from lies.
struct Spread {
  double value = 0.0;  ///< the median
  double low = 0.0;    ///< 10th percentile
  double high = 0.0;   ///< 90th percentile
  std::size_t count = 0;
};

/// Of at least one value. Few values (under ten) spread from the least to the greatest.
Spread spread_of(const std::vector<double>& values);

/// The exponent a of y = x^a through (1, 1), by least squares of the logarithms. At least one pair with 0 < x < 1.
double exponent_through_one(std::span<const double> x, std::span<const double> y);

}  // namespace corun::calibration

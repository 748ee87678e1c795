#include "sim/calibration/fits/quantile.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun::calibration {

double quantile(std::vector<double> values, double q) {
  CORUN_ASSERT(!values.empty() && q >= 0 && q <= 1, "quantile {} of {} values", q, values.size());
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
}

Spread spread_of(const std::vector<double>& values) {
  constexpr std::size_t kFew = 10;
  const double edge = values.size() < kFew ? 0.0 : 0.1;
  return {median(values), quantile(values, edge), quantile(values, 1.0 - edge), values.size()};
}

double exponent_through_one(std::span<const double> x, std::span<const double> y) {
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += std::log(x[i]) * std::log(y[i]);
    squares += std::log(x[i]) * std::log(x[i]);
  }
  CORUN_ASSERT(squares > 0, "no point away from 1 among {}", x.size());
  return products / squares;
}

}  // namespace corun::calibration

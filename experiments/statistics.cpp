#include "experiments/statistics.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "traces/base/error.h"

namespace corun {

namespace {

/// Continued fraction of the incomplete beta function (Lentz's method).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kPrecision = 1e-15;
  const auto away_from_zero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double product = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      product *= c * d;
    }
    if (std::fabs(c * d - 1) < kPrecision) break;
  }
  return product;
}

/// I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  const bool is_left = x < (a + 1) / (a + b + 2);
  return is_left ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_t_probability(double t, unsigned degrees) {
  const double n = degrees;
  const double tail = 0.5 * incomplete_beta(n / 2, 0.5, n / (n + t * t));
  return t > 0 ? 1 - tail : tail;
}

double student_t_95(unsigned degrees) {
  double low = 0, high = 20;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_t_probability(middle, degrees) < 0.975 ? low : high) = middle;
  }
  return (low + high) / 2;
}

Estimate estimate(std::span<const double> values) {
  CORUN_ASSERT(!values.empty(), "an estimate of nothing");
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean, mean, mean, 1};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = student_t_95(static_cast<unsigned>(values.size() - 1)) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half, values.size()};
}

}  // namespace corun

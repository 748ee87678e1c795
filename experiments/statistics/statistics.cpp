#include "experiments/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/engine/random.h"
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

Estimate figure_estimate(std::span<const double> values) {
  Estimate found = estimate(values);
  if (!has_interval(found)) found.low = found.high = found.mean;
  if (std::ranges::min(values) >= 0) found.low = std::max(found.low, 0.0);
  return found;
}

namespace {

double effect_of(Effect effect, double values, double baseline) {
  if (effect == Effect::kDifference) return values - baseline;
  return baseline == 0 ? std::nan("") : values / baseline;
}

/// Means of pairs, and what they vary and vary together by.
struct PairMoments {
  double value = 0, baseline = 0;
  double variance_of_rest = 0, variance_of_baseline = 0, covariance = 0;  ///< of means; rest: value - ratio * baseline
};

/// `ratio` is subtracted before squaring, so that equal ratios vary by nothing.
PairMoments moments(std::span<const double> values, std::span<const double> baseline, double ratio) {
  const auto n = static_cast<double>(values.size());
  PairMoments m;
  m.value = std::accumulate(values.begin(), values.end(), 0.0) / n;
  m.baseline = std::accumulate(baseline.begin(), baseline.end(), 0.0) / n;
  const double mean_rest = m.value - ratio * m.baseline;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rest = values[i] - ratio * baseline[i] - mean_rest, beside = baseline[i] - m.baseline;
    m.variance_of_rest += rest * rest / (n - 1) / n;
    m.variance_of_baseline += beside * beside / (n - 1) / n;
    m.covariance += rest * beside / (n - 1) / n;
  }
  return m;
}

/// Fieller's interval, in terms of what is left of the values without ratio * baseline.
Estimate ratio_interval(std::span<const double> values, std::span<const double> baseline, double ratio) {
  const PairMoments m = moments(values, baseline, ratio);
  const double t = student_t_95(static_cast<unsigned>(values.size() - 1));
  const double scale = t * t / (m.baseline * m.baseline), bounded = 1 - scale * m.variance_of_baseline;
  if (!(bounded > 0)) return {ratio, std::nan(""), std::nan(""), values.size()};
  const bool is_positive = std::ranges::min(values) >= 0 && std::ranges::min(baseline) >= 0;
  const double middle = ratio - scale * m.covariance / bounded;
  const double half = std::sqrt(scale * (m.variance_of_rest * bounded + scale * m.covariance * m.covariance)) / bounded;
  return {ratio, is_positive ? std::max(middle - half, 0.0) : middle - half, middle + half, values.size()};
}

/// Between order statistics, linearly: rank probability * (n - 1), counted from 0.
double interpolated(const std::vector<double>& sorted, double probability) {
  const double rank = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double lower_probability(std::size_t pairs, bool is_expanded) {
  if (!is_expanded) return 0.025;
  const auto n = static_cast<double>(pairs);
  const double t = student_t_95(static_cast<unsigned>(pairs - 1)) * std::sqrt(n / (n - 1));
  return 0.5 * std::erfc(t / std::sqrt(2.0));
}

}  // namespace

Estimate paired_interval(std::span<const double> values, std::span<const double> baseline, Effect effect) {
  const std::size_t pairs = values.size();
  CORUN_ASSERT(pairs > 0 && baseline.size() == pairs, "{} values, {} of the baseline", pairs, baseline.size());
  const auto mean = [&](std::span<const double> sample) {
    return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(pairs);
  };
  const double found = effect_of(effect, mean(values), mean(baseline));
  if (pairs < kFewestForInterval || std::isnan(found)) return {found, found, found, pairs};
  if (effect == Effect::kRatio) return ratio_interval(values, baseline, found);
  std::vector<double> differences;
  for (std::size_t i = 0; i < pairs; ++i) differences.push_back(values[i] - baseline[i]);
  const Estimate spread = estimate(differences);
  return {found, found - (spread.mean - spread.low), found + (spread.high - spread.mean), pairs};
}

std::vector<std::uint32_t> draw_resamples(std::size_t count, std::size_t size, std::uint64_t seed) {
  RandomStream random(seed, "paired bootstrap");
  std::vector<std::uint32_t> indices(count * size);
  for (std::uint32_t& index : indices) index = static_cast<std::uint32_t>(random.uniform() * static_cast<double>(size));
  return indices;
}

Estimate paired_bootstrap(std::span<const double> values, std::span<const double> baseline, Effect effect,
                          std::span<const std::uint32_t> resamples, bool is_expanded) {
  const std::size_t pairs = values.size();
  CORUN_ASSERT(pairs > 0 && baseline.size() == pairs, "{} values, {} of the baseline", pairs, baseline.size());
  const auto mean = [&](std::span<const double> sample) {
    return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(pairs);
  };
  const double found = effect_of(effect, mean(values), mean(baseline));
  if (pairs < kFewestForInterval || resamples.empty()) return {found, found, found, pairs};
  std::vector<double> effects;
  for (std::size_t row = 0; row + pairs <= resamples.size(); row += pairs) {
    double value_sum = 0, baseline_sum = 0;
    for (const std::uint32_t index : resamples.subspan(row, pairs)) {
      value_sum += values[index];
      baseline_sum += baseline[index];
    }
    const auto n = static_cast<double>(pairs);
    effects.push_back(effect_of(effect, value_sum / n, baseline_sum / n));
  }
  if (std::ranges::any_of(effects, [](double x) { return std::isnan(x); }))
    return {found, std::nan(""), std::nan(""), pairs};
  std::ranges::sort(effects);
  const double below = lower_probability(pairs, is_expanded);
  return {found, interpolated(effects, below), interpolated(effects, 1 - below), pairs};
}

}  // namespace corun

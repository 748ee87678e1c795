#include "experiments/statistics/steady_state.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "traces/base/error.h"

namespace corun {

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Means of `length` values each, from the start.
std::vector<double> means_of(std::span<const double> series, std::size_t length) {
  std::vector<double> means;
  for (std::size_t at = 0; at + length <= series.size(); at += length)
    means.push_back(mean_of(series.subspan(at, length)));
  return means;
}

}  // namespace

WarmupCut mser5(std::span<const double> series) {
  constexpr std::size_t kBatch = 5;
  const std::vector<double> means = means_of(series, kBatch);
  if (means.size() < 2) return {0, false};
  const std::size_t last = means.size() / 2;
  std::size_t best = last;
  double least = HUGE_VAL, mean = 0, squares = 0;  // of the means from `cut` on, one more at a time (Welford)
  for (std::size_t cut = means.size(); cut-- > 0;) {
    const auto n = static_cast<double>(means.size() - cut);
    const double deviation = means[cut] - mean;
    mean += deviation / n;
    squares += deviation * (means[cut] - mean);
    const double error = squares / (n * n);  // the standard error, squared
    if (cut <= last && error <= least) best = cut, least = error;
  }
  return {best * kBatch, best < last};
}

Estimate batch_means(std::span<const double> series, std::size_t batches) {
  CORUN_ASSERT(batches >= 2 && series.size() >= batches, "{} batches of {} values", batches, series.size());
  const std::size_t length = series.size() / batches;
  return estimate(means_of(series.last(length * batches), length));
}

double lag1_correlation(std::span<const double> series) {
  if (series.size() < 2) return 0;
  const double mean = mean_of(series);
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    squares += (series[i] - mean) * (series[i] - mean);
    if (i > 0) products += (series[i] - mean) * (series[i - 1] - mean);
  }
  return squares == 0 ? 0 : products / squares;
}

}  // namespace corun

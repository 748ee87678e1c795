#pragma once

#include <cstddef>
#include <span>

#include "experiments/statistics/statistics.h"

namespace corun {

/// Statistics of one run's series (frame times, job times), whose values come one after the other and depend on those
/// before. Those over seeds are in statistics.h.

/// Where the warm-up at the start of a series ends.
struct WarmupCut {
  std::size_t count = 0;   ///< values to leave out: a multiple of 5
  bool is_settled = true;  ///< false: the least lies at the last place looked at, so the series is too short
};

/// MSER-5 (White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, 1997; White, Cobb and
/// Spratt 2000): means of 5 values each, cut where the standard error of the mean of what remains is least, in the
/// first half. A rest of fewer than 5 values at the end is left out. Fewer than 10 values are not settled.
WarmupCut mser5(std::span<const double> series);

/// Mean of a series with the 95 % interval by batch means: `batches` (>= 2) runs of equal length, whose means are taken
/// as independent (Law and Kelton, Simulation Modeling and Analysis, section 9.5.3). What is left over at the start is
/// left out. `count` is that of the batches. Asserts that there is a value for each batch.
Estimate batch_means(std::span<const double> series, std::size_t batches);

/// Correlation of each value with the next; 0 where all are equal. Batch means above about 0.2 want longer batches.
double lag1_correlation(std::span<const double> series);

}  // namespace corun

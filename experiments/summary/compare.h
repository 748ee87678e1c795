#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/statistics/statistics.h"
#include "experiments/summary/compare_samples.h"

namespace corun {

/// Effect of a policy compared with the baseline on one figure of one client, over the seeds that both have. Means in
/// `unit`, the metric's; an interval is 95 %, and equal to its mean where there are fewer pairs than
/// kFewestForInterval.
struct Comparison {
  std::string scenario, backend;     ///< runs are compared within a scenario, in simulation or on a device,
  std::optional<std::size_t> point;  ///< and in a sweep within a point
  std::string policy, client, metric, unit;
  Estimate baseline, value;              ///< means over the pairs: see figure_estimate
  Estimate difference;                   ///< value - baseline, as paired_interval()
  Estimate ratio;                        ///< value / baseline, likewise; NaN where the baseline is 0
  std::vector<std::string> revisions{};  ///< of results, where its runs are of several: that alone changes numbers
  std::optional<FigureBand> baseline_band{}, value_band{};  ///< where measured figures lie that were predicted so
  std::size_t pairs() const { return difference.count; }
};

struct CompareChoice {
  std::string baseline;                  ///< policy; "" = the first of the results
  std::vector<std::string> metrics;      ///< empty = all; a name's ending may be left off, as in expectations
  std::string backend{};                 ///< empty = all
  bool is_ranked = true;                 ///< rows in the order of Comparisons::rows, else as planned, point by point
  std::vector<std::string> preferred{};  ///< without `metrics`: these, where there are any of them
};

struct Comparisons {
  std::string baseline;
  SweptPoints points;
  /// By scenario, client and metric as planned; within these the best policy first, in a sweep the policies as planned
  /// and each point by point.
  std::vector<Comparison> rows;
  std::vector<std::string> warnings;  ///< few seeds, missing runs, horizons too short, several revisions
  bool has_classes = true;            ///< else the files do not say how figures may be off: no bands
};

/// Compares the policies of one or several results files with a baseline, seed by seed. The same run in two files
/// counts once; failed runs are left out. Intervals are those of `corun.compare` in Python.
/// Throws Error(kInput) for what is no results file, a policy or metric that none has, and for two different runs of
/// one scenario, policy, point and seed, and for two sweeps that have different points.
Comparisons compare(const std::vector<std::string>& results, const CompareChoice& choice);

/// " (of results revisions 1, 2)"; "" where the runs are of one.
std::string of_revisions(const Comparison& comparison);

/// "pilotfish gives resnet50 1.83 ± 0.05 times the throughput of exclusive". Behind ± stands the farther end of the
/// interval; an effect whose interval holds "no effect" is said to be unproven, and so are revisions where there are
/// several.
std::string sentence(const Comparison& comparison, const std::string& baseline);

/// The sentences of the rows that `is_told` accepts. Of a sweep, two for each policy, client and metric: of the points
/// at which the ratio (the value, where there is none) is least and greatest, which they name.
std::vector<std::string> sentences(const Comparisons& found, const std::function<bool(const Comparison&)>& is_told);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "experiments/identify/evidence.h"

namespace corun::identification {

/// The hypotheses of one rule that are under consideration: a grid around the best.
struct Cloud {
  std::size_t rule = 0;
  Hypothesis best;                ///< of the rule
  std::vector<Hypothesis> peaks;  ///< the best of their neighbourhoods that fit nearly as well, the best among them
  std::vector<int> spacing;  ///< of the grid around the best, by unknown: half to one and a half standard deviations
  double support = 0.0;      ///< of the best
  std::vector<Hypothesis> points;
};

/// Where the search begins, for every rule: the coarse grid of its unknowns.
std::vector<Cloud> first_clouds(const std::vector<Rule>& rules);

/// Moves and narrows the grid until it fits the evidence: from the best of the coarse grid and of what was looked at
/// before, some of them far apart, over ever finer neighbours as long as trials separate these. What fits may lie in
/// several places: kernels of so many slices of one length are like those of one more of another.
void fit(Cloud& cloud, const Evidence& evidence);

/// An unknown of the rule with its 95 % interval, in ns where it is a duration.
struct FoundValue {
  std::string key;
  double value = 0.0, low = 0.0, high = 0.0;
  bool is_at_edge = false;  ///< of all that is looked at: the truth may lie beyond
};

/// Median and interval over fine grids around the peaks, weighed by likelihood; `excess` as in Evidence.
std::vector<FoundValue> found_values(const Cloud& cloud, const Evidence& evidence, double excess);

}  // namespace corun::identification

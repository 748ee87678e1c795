#pragma once

#include <string>
#include <vector>

#include "experiments/validate/scoring/score.h"

namespace corun::validation {

/// How a null model did on the rows for which it has figures, and how the prediction did on the same rows.
struct NullScore {
  std::string model;
  std::size_t rows = 0;
  double mean = 0.0;       ///< of its absolute errors
  double predicted = 0.0;  ///< of the prediction's
};

/// Rows of one kind together: same tier, metric, what bounds the client, and seen or not. Errors are absolute values.
struct ScoreGroup {
  Tier tier = Tier::kSolo;
  std::string metric;
  Bound bound = Bound::kDevice;
  bool is_seen = false;
  std::size_t rows = 0;    ///< planned
  std::size_t scored = 0;  ///< not missing
  std::size_t inside_noise = 0, within_goal = 0, outside = 0;
  std::size_t undecided = 0;       ///< of those inside noise: the noise floor is wider than the goal
  std::size_t too_few_frames = 0;  ///< of those scored: they count for nothing else
  double mean = 0.0, p50 = 0.0, p90 = 0.0, worst = 0.0;
  Goal goal{};  ///< the widest of its rows
  /// No row is outside and the mean is within its goal; under MPS, every null model is beaten besides. A goal in
  /// absolute terms has no mean.
  bool is_met = false;
  std::vector<NullScore> nulls{};

  bool is_decided() const { return scored > too_few_frames; }
  bool beats_nulls() const;
};

/// In the order: not seen before seen, tiers, metrics as they come.
std::vector<ScoreGroup> summarise(const std::vector<ScoreRow>& rows);

}  // namespace corun::validation

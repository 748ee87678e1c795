#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/statistics/statistics.h"
#include "experiments/validate/scoring/cells.h"

namespace corun::validation {

/// By what policies of a scenario are compared; more is better.
enum class Merit : std::uint8_t {
  kProgress,    ///< sum over the clients of rate over rate alone
  kFairness,    ///< the least of them
  kSmoothness,  ///< 1 s over the longest p99 of its clients' frame times; of scenarios with frames
};
std::string_view to_string(Merit merit);  ///< "progress", "fairness", "smoothness"

/// What a policy is worth in a scenario, in the model and in the backend.
struct PolicyMerit {
  std::string policy;
  Estimate predicted, measured;
};

/// The policies of a scenario by one merit.
struct Ranking {
  std::string scenario;
  Merit merit = Merit::kProgress;
  bool is_seen = false;
  std::vector<PolicyMerit> policies;
};

/// Of every scenario with two policies or more that were predicted and measured.
std::vector<Ranking> rank(const std::vector<Cell>& cells, const Figures& predicted, const Figures& measured);

/// Whether the model orders policies as the backend does. A pair counts where its measured gap is more than twice the
/// noise of the gap: that of the half intervals of both, in quadrature.
struct RankingScore {
  std::size_t concordant = 0, discordant = 0;
  std::size_t too_close = 0;  ///< pairs that do not count
  std::optional<double> tau;  ///< Kendall's over the pairs that count; nullopt where there is none
  double worst_regret = 0.0;  ///< what is lost by taking the policy that is predicted best, as a fraction
  double mean_regret = 0.0;   ///< over the rankings
};
RankingScore score_rankings(const std::vector<Ranking>& rankings);

/// Of one; 0 where the policy taken is too close to the best to be distinguished from it.
double regret(const Ranking& ranking);

}  // namespace corun::validation

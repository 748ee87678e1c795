#include "experiments/validate/scoring/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun::validation {

namespace {

constexpr Merit kMerits[] = {Merit::kProgress, Merit::kFairness, Merit::kSmoothness};
constexpr double kMsOfSecond = 1e3;

std::size_t runs_of(const Cell& cell, const Figures& figures, const char* metric) {
  std::size_t runs = std::numeric_limits<std::size_t>::max();
  for (const CellClient& client : cell.clients)
    runs = std::min(runs, figures.values(cell.key, client.name, metric).size());
  return runs;
}

/// Of each run: rates over those alone, put together.
std::vector<double> of_rates(const Cell& cell, const Figures& figures, bool of_least) {
  constexpr const char* kRate = "throughput_per_s";
  std::vector<double> merits(runs_of(cell, figures, kRate), of_least ? std::numeric_limits<double>::infinity() : 0.0);
  for (const CellClient& client : cell.clients) {
    const auto alone = figures.get(client.solo, client.solo_name, kRate);
    if (!alone || alone->mean <= 0) return {};
    const auto rates = figures.values(cell.key, client.name, kRate);
    for (std::size_t i = 0; i < merits.size(); ++i) {
      const double kept = rates[i] / alone->mean;
      merits[i] = of_least ? std::min(merits[i], kept) : merits[i] + kept;
    }
  }
  return merits;
}

std::vector<double> of_frames(const Cell& cell, const Figures& figures) {
  std::vector<double> longest;
  for (const CellClient& client : cell.clients) {
    if (!client.shows_frames) continue;
    const auto times = figures.values(cell.key, client.name, "frame_time_p99_ms");
    if (longest.empty()) longest.assign(times.size(), 0.0);
    for (std::size_t i = 0; i < std::min(longest.size(), times.size()); ++i)
      longest[i] = std::max(longest[i], times[i]);
  }
  for (double& time : longest) time = kMsOfSecond / time;
  std::erase_if(longest, [](double merit) { return !std::isfinite(merit); });
  return longest;
}

std::vector<double> merits(const Cell& cell, const Figures& figures, Merit merit) {
  return merit == Merit::kSmoothness ? of_frames(cell, figures) : of_rates(cell, figures, merit == Merit::kFairness);
}

double half(const Estimate& estimate) { return (estimate.high - estimate.low) / 2; }

bool is_too_close(const PolicyMerit& one, const PolicyMerit& other) {
  return std::abs(one.measured.mean - other.measured.mean) <= 2 * std::hypot(half(one.measured), half(other.measured));
}

void count_pairs(const Ranking& ranking, RankingScore& score) {
  for (std::size_t i = 0; i < ranking.policies.size(); ++i)
    for (std::size_t j = i + 1; j < ranking.policies.size(); ++j) {
      const PolicyMerit &one = ranking.policies[i], &other = ranking.policies[j];
      const double gap = one.measured.mean - other.measured.mean;
      const double predicted = one.predicted.mean - other.predicted.mean;
      if (is_too_close(one, other)) {
        ++score.too_close;
      } else {
        ++(gap * predicted > 0 ? score.concordant : score.discordant);
      }
    }
}

}  // namespace

std::string_view to_string(Merit merit) {
  switch (merit) {
    case Merit::kProgress:
      return "progress";
    case Merit::kFairness:
      return "fairness";
    case Merit::kSmoothness:
      return "smoothness";
  }
  return "no merit";
}

std::vector<Ranking> rank(const std::vector<Cell>& cells, const Figures& predicted, const Figures& measured) {
  std::vector<Ranking> rankings;
  for (const Cell& cell : cells)
    for (const Merit merit : kMerits) {
      const auto ours = merits(cell, predicted, merit), theirs = merits(cell, measured, merit);
      if (cell.tier == Tier::kSolo || ours.empty() || theirs.empty()) continue;
      auto ranking = std::ranges::find_if(
          rankings, [&](const Ranking& other) { return other.scenario == cell.key.scenario && other.merit == merit; });
      if (ranking == rankings.end())
        ranking = rankings.insert(rankings.end(), {cell.key.scenario, merit, cell.is_seen, {}});
      ranking->policies.push_back({cell.key.policy, estimate(ours), estimate(theirs)});
    }
  std::erase_if(rankings, [](const Ranking& ranking) { return ranking.policies.size() < 2; });
  return rankings;
}

double regret(const Ranking& ranking) {
  const auto by_predicted = [](const PolicyMerit& policy) { return policy.predicted.mean; };
  const auto by_measured = [](const PolicyMerit& policy) { return policy.measured.mean; };
  const PolicyMerit& best = *std::ranges::max_element(ranking.policies, {}, by_measured);
  const PolicyMerit& chosen = *std::ranges::max_element(ranking.policies, {}, by_predicted);
  if (best.measured.mean <= 0 || is_too_close(best, chosen)) return 0.0;
  return (best.measured.mean - chosen.measured.mean) / best.measured.mean;
}

RankingScore score_rankings(const std::vector<Ranking>& rankings) {
  RankingScore score;
  double sum = 0;
  for (const Ranking& ranking : rankings) {
    count_pairs(ranking, score);
    score.worst_regret = std::max(score.worst_regret, regret(ranking));
    sum += regret(ranking);
  }
  if (!rankings.empty()) score.mean_regret = sum / static_cast<double>(rankings.size());
  const std::size_t counted = score.concordant + score.discordant;
  if (counted > 0)
    score.tau =
        (static_cast<double>(score.concordant) - static_cast<double>(score.discordant)) / static_cast<double>(counted);
  return score;
}

}  // namespace corun::validation

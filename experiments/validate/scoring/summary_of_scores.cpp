#include "experiments/validate/scoring/summary_of_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace corun::validation {

namespace {

bool belongs(const ScoreGroup& group, const ScoreRow& row) {
  return group.tier == row.tier && group.metric == row.metric && group.bound == row.bound &&
         group.is_seen == row.is_seen;
}

/// Nearest rank of sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void count(ScoreGroup& group, const ScoreRow& row) {
  ++group.rows;
  group.goal = {std::max(group.goal.mean, row.goal.mean), std::max(group.goal.worst, row.goal.worst),
                std::max(group.goal.absolute, row.goal.absolute)};
  if (!row.has_error()) return;
  ++group.scored;
  group.too_few_frames += row.verdict == Verdict::kTooFewFrames;
  group.inside_noise += row.verdict == Verdict::kInsideNoise;
  group.within_goal += row.verdict == Verdict::kWithinGoal;
  group.outside += row.verdict == Verdict::kOutside;
  group.undecided += row.verdict == Verdict::kInsideNoise && row.noise > row.goal.worst;
}

void add_errors(ScoreGroup& group, const std::vector<ScoreRow>& rows) {
  std::vector<double> errors;
  for (const ScoreRow& row : rows)
    if (belongs(group, row) && row.is_decided()) errors.push_back(std::abs(row.error));
  if (errors.empty()) return;
  std::ranges::sort(errors);
  group.mean = mean(errors);
  group.p50 = quantile(errors, 0.5);
  group.p90 = quantile(errors, 0.9);
  group.worst = errors.back();
  const bool is_near_in_absolute_terms = group.goal.absolute > 0;
  group.is_met = group.outside == 0 && (is_near_in_absolute_terms || group.mean <= group.goal.mean);
}

void add_nulls(ScoreGroup& group, const std::vector<ScoreRow>& rows) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> errors, own;
  for (const ScoreRow& row : rows) {
    if (!belongs(group, row) || !row.is_decided()) continue;
    for (const NullFigure& null : row.nulls) {
      if (std::ranges::find(names, null.model) == names.end()) names.push_back(null.model);
      errors[null.model].push_back(std::abs(row.error_of(null)));
      own[null.model].push_back(std::abs(row.error));
    }
  }
  for (const std::string& name : names)
    group.nulls.push_back({name, errors[name].size(), mean(errors[name]), mean(own[name])});
  const bool must_beat_them = group.tier == Tier::kConcurrent;
  if (must_beat_them) group.is_met = group.is_met && group.beats_nulls();
}

}  // namespace

bool ScoreGroup::beats_nulls() const {
  return std::ranges::all_of(nulls, [](const NullScore& null) { return null.predicted < null.mean; });
}

std::vector<ScoreGroup> summarise(const std::vector<ScoreRow>& rows) {
  std::vector<ScoreGroup> groups;
  for (const ScoreRow& row : rows) {
    auto group = std::ranges::find_if(groups, [&](const ScoreGroup& other) { return belongs(other, row); });
    if (group == groups.end()) group = groups.insert(groups.end(), {row.tier, row.metric, row.bound, row.is_seen});
    count(*group, row);
  }
  for (ScoreGroup& group : groups) {
    add_errors(group, rows);
    add_nulls(group, rows);
  }
  std::ranges::stable_sort(groups, {}, [](const ScoreGroup& group) { return std::pair(group.is_seen, group.tier); });
  return groups;
}

}  // namespace corun::validation

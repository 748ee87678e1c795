#include "experiments/validate/scoring/score.h"

#include <algorithm>
#include <cmath>

#include "experiments/validate/scoring/null_models.h"

namespace corun::validation {

namespace {

constexpr const char* kRate = "throughput_per_s";
constexpr const char* kScored[] = {kRate, "fps_mean", kRateKept, "job_time_p99_ms", "frame_time_p99_ms", kAddedDelay};

/// Frames are scored by their own metrics, jobs by theirs.
bool is_of(const CellClient& client, std::string_view metric) {
  if (metric == kRateKept) return true;
  const bool is_of_frames = metric != kRate && metric != "job_time_p99_ms";
  return client.shows_frames == is_of_frames;
}

bool is_absolute_rate(std::string_view metric) { return metric == kRate || metric == "fps_mean"; }

std::optional<double> mean_of(const Figures& figures, const CellKey& cell, const std::string& client,
                              const std::string& metric) {
  const auto found = figures.get(cell, client, metric);
  return found ? std::optional(found->mean) : std::nullopt;
}

std::optional<Estimate> estimate_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(estimate(values));
}

/// The figure of a run from which a scored one is made.
std::string source_of(const std::string& metric) {
  if (metric == kAddedDelay) return "frame_time_p99_ms";
  return metric == kRateKept ? kRate : metric;
}

/// What is drawn, as arrivals, is the same in two runs of one seed: there, only their differences are noise.
double noise_floor(const ScoreRow& row, const std::vector<double>& ours, const std::vector<double>& theirs,
                   bool have_same_seeds) {
  if (!row.predicted || !row.measured) return 0.0;
  if (!have_same_seeds || ours.size() != theirs.size()) return (row.measured->high - row.measured->low) / 2;
  std::vector<double> differences;
  for (std::size_t i = 0; i < ours.size(); ++i) differences.push_back(theirs[i] - ours[i]);
  const Estimate difference = estimate(differences);
  return (difference.high - difference.low) / 2;
}

/// A 99th percentile needs frames beyond it.
bool has_too_few_frames(const ScoreRow& row, const Cell& cell, const Figures& measured) {
  constexpr double kLeastFrames = 500;
  const bool is_of_frames = row.metric == kAddedDelay || row.metric == "frame_time_p99_ms";
  const auto fps = mean_of(measured, row.cell, row.client, "fps_mean");
  return is_of_frames && fps && *fps * to_seconds(cell.window) < kLeastFrames;
}

Verdict judge(const ScoreRow& row, double floor, bool has_too_few) {
  if (!row.predicted || !row.measured) return Verdict::kMissing;
  if (has_too_few) return Verdict::kTooFewFrames;
  const double difference = std::abs(row.predicted->mean - row.measured->mean);
  if (difference <= floor) return Verdict::kInsideNoise;
  const double near_enough = std::max(row.goal.worst * std::abs(row.measured->mean), row.goal.absolute);
  return difference <= near_enough ? Verdict::kWithinGoal : Verdict::kOutside;
}

/// Neither backend has such a figure, as of the jobs of a client that starves: nothing is missing.
bool has_none(const ScoreRow& row, const Figures& predicted) {
  const bool was_predicted = !predicted.values(row.cell, row.client, "gpu_busy_ratio").empty();
  return was_predicted && !row.predicted && !row.measured;
}

void compare(ScoreRow& row, double floor, bool has_too_few) {
  row.verdict = judge(row, floor, has_too_few);
  if (!row.has_error()) return;
  const double measured = row.measured->mean;
  row.error = relative_error(row.predicted->mean, measured);
  if (measured != 0.0) row.noise = floor / std::abs(measured);
}

std::optional<SoloFigure> alone(const CellClient& client, const Figures& figures) {
  const auto rate = mean_of(figures, client.solo, client.solo_name, kRate);
  const auto busy = mean_of(figures, client.solo, client.solo_name, "gpu_busy_ratio");
  if (!rate || !busy || *rate <= 0 || *busy <= 0) return std::nullopt;
  return SoloFigure{*rate, std::min(*busy, 1.0)};
}

std::optional<std::vector<SoloFigure>> all_alone(const Cell& cell, const Figures& figures) {
  std::vector<SoloFigure> found;
  for (const CellClient& client : cell.clients) {
    const auto its = alone(client, figures);
    if (!its) return std::nullopt;
    found.push_back(*its);
  }
  return found;
}

/// Times stretch as rates shrink.
double null_value(const ScoreRow& row, const CellClient& client, const Figures& predicted, double kept) {
  const double solo = mean_of(predicted, client.solo, client.solo_name, row.metric).value_or(0.0);
  return is_absolute_rate(row.metric) ? solo * kept : solo / kept;
}

void add_nulls(ScoreRow& row, const Cell& cell, std::size_t index, const Figures& predicted) {
  const bool has_nulls = cell.tier != Tier::kSolo && row.metric != kAddedDelay && row.metric != kRateKept;
  const auto solos = all_alone(cell, predicted);
  if (!has_nulls || !solos) return;
  for (const NullModel& model : null_models(*solos)) {
    const double kept = model.rates_per_s[index] / (*solos)[index].rate_per_s;
    row.nulls.push_back({model.name, null_value(row, cell.clients[index], predicted, kept)});
  }
}

/// Of the clients of concurrent cells, in the order of cells and clients; those without measurements are left out.
struct KnownKept {
  CellKey cell;
  std::string client;
  KeptRate kept;
};

std::vector<KnownKept> kept_rates(const std::vector<Cell>& cells, const Figures& predicted, const Figures& measured) {
  std::vector<KnownKept> rows;
  for (const Cell& cell : cells) {
    const auto solos = all_alone(cell, predicted);
    if (cell.tier != Tier::kConcurrent || !solos) continue;
    std::vector<std::string> company;
    double all_busy = 0;
    for (std::size_t i = 0; i < cell.clients.size(); ++i) {
      company.push_back(cell.clients[i].solo.scenario);
      all_busy += (*solos)[i].busy;
    }
    std::ranges::sort(company);
    for (std::size_t i = 0; i < cell.clients.size(); ++i) {
      const CellClient& client = cell.clients[i];
      const auto solo = mean_of(measured, client.solo, client.solo_name, kRate);
      const auto shared = mean_of(measured, cell.key, client.name, kRate);
      if (!solo || !shared || *solo <= 0) continue;
      const double busy = (*solos)[i].busy;
      rows.push_back({cell.key, client.name, {company, busy, all_busy - busy, *shared / *solo}});
    }
  }
  return rows;
}

/// The null models that only concurrent cells have.
void add_concurrent_nulls(ScoreRow& row, const CellClient& client, const Figures& predicted,
                          const Figures& without_losses, const std::vector<KnownKept>& known) {
  if (row.tier != Tier::kConcurrent || !is_absolute_rate(row.metric)) return;
  if (const auto dispatch = mean_of(without_losses, row.cell, row.client, row.metric))
    row.nulls.push_back({"dispatch order", *dispatch});
  const auto its = std::ranges::find_if(
      known, [&](const KnownKept& other) { return other.cell == row.cell && other.client == row.client; });
  if (its == known.end()) return;
  std::vector<KeptRate> all;
  for (const KnownKept& other : known) all.push_back(other.kept);
  if (const auto kept = linear_model(all, its->kept))
    row.nulls.push_back({"linear", null_value(row, client, predicted, *kept)});
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kInsideNoise:
      return "inside noise";
    case Verdict::kWithinGoal:
      return "within goal";
    case Verdict::kOutside:
      return "outside";
    case Verdict::kTooFewFrames:
      return "too few frames";
    case Verdict::kMissing:
      return "missing";
  }
  return "no verdict";
}

double relative_error(double predicted, double measured) {
  if (measured == 0.0) return predicted == 0.0 ? 0.0 : 1.0;
  return (predicted - measured) / measured;
}

double spread_alone(const CellClient& client, const Figures& measured) {
  const auto rates = measured.values(client.solo, client.solo_name, kRate);
  const auto mean = measured.get(client.solo, client.solo_name, kRate);
  if (rates.size() < 2 || mean->mean <= 0) return 0.0;
  const auto [least, most] = std::ranges::minmax(rates);
  return (most - least) / 2 / mean->mean;
}

std::vector<double> scored_values(const Figures& figures, const Cell& cell, const CellClient& client,
                                  const std::string& metric) {
  const bool is_delay = metric == kAddedDelay, is_rate_kept = metric == kRateKept;
  const std::string source = source_of(metric);
  const auto found = figures.values(cell.key, client.name, source);
  std::vector<double> values(found.begin(), found.end());
  if (!is_delay && !is_rate_kept) return values;
  const auto solo = mean_of(figures, client.solo, client.solo_name, source);
  if (!solo || cell.tier == Tier::kSolo) return {};
  for (double& value : values) value = is_delay ? value - *solo : value / *solo;
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

std::vector<ScoreRow> score(const std::vector<Cell>& cells, const Figures& predicted, const Figures& measured,
                            const Figures& without_losses) {
  std::vector<ScoreRow> rows;
  const std::vector<KnownKept> known = kept_rates(cells, predicted, measured);
  for (const Cell& cell : cells)
    for (std::size_t i = 0; i < cell.clients.size(); ++i) {
      const CellClient& client = cell.clients[i];
      for (const std::string metric : kScored) {
        const bool has_no_row = !is_of(client, metric) || (metric == kRateKept && cell.tier == Tier::kSolo);
        const auto goal = goal_of(cell.tier, client.bound, metric, spread_alone(client, measured));
        if (has_no_row || !goal) continue;
        ScoreRow row{cell.key, client.name, metric, cell.tier, client.bound, cell.is_seen, *goal};
        const auto ours = scored_values(predicted, cell, client, metric),
                   theirs = scored_values(measured, cell, client, metric);
        row.predicted = estimate_of(ours);
        row.measured = estimate_of(theirs);
        if (has_none(row, predicted)) continue;
        const bool have_same_seeds = std::ranges::equal(predicted.seeds(cell.key, client.name, source_of(metric)),
                                                        measured.seeds(cell.key, client.name, source_of(metric)));
        compare(row, noise_floor(row, ours, theirs, have_same_seeds), has_too_few_frames(row, cell, measured));
        add_nulls(row, cell, i, predicted);
        add_concurrent_nulls(row, client, predicted, without_losses, known);
        rows.push_back(std::move(row));
      }
    }
  return rows;
}

}  // namespace corun::validation

#include "experiments/summary/sweep_summary.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "experiments/base/terminal.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/headlines.h"
#include "sim/metrics/metric_table.h"

namespace corun {

namespace {

/// Frames are a game's throughput already.
bool is_shown(const Metric& metric, const RunOutcome& outcome) {
  if (std::ranges::find(headlines::kSweep, metric.name) == std::end(headlines::kSweep)) return false;
  const bool is_of_jobs = metric_named(metric.name).owner == MetricOwner::kClient;
  return !is_of_jobs || std::ranges::none_of(outcome.metrics, [&](const Metric& other) {
    return other.client == metric.client && other.name == "fps_mean";
  });
}

/// What figure_band() asks for.
bool is_asked_for(std::string_view metric) {
  constexpr std::string_view kAsked[] = {"fps_mean",           "throughput_per_s",  "solo_throughput_per_s",
                                         "gpu_busy_ratio",     "frame_time_p99_ms", "job_time_p50_ms",
                                         "job_interval_p99_ms"};
  return std::ranges::find(kAsked, metric) != std::end(kAsked);
}

std::vector<std::string> lines_of(const std::string& notes) {
  std::vector<std::string> lines;
  std::istringstream stream(notes);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

SweepSummary::SweepSummary(const Experiment& experiment, const Plan& plan) : experiment_(experiment) {
  for (const Plan::Place& place : plan.places)
    if (place.point) points_[plan.runs[place.run].id].push_back(*place.point);
}

void SweepSummary::add(const RunSpec& spec, const RunOutcome& outcome) {
  const Scenario& scenario = experiment_.scenarios[spec.scenario];
  if (outcome.error) return;
  const std::string& policy = scenario.policies[spec.policy].label;
  for (const std::size_t point : points_[spec.id])
    if (const auto [its, is_first] = runs_.try_emplace({scenario.name, policy, point}, spec.scenario, spec.policy);
        is_first)
      its->second.notes = lines_of(outcome.notes);
  for (const Metric& metric : outcome.metrics) {
    const bool is_row = is_shown(metric, outcome);
    if (!is_row && !is_asked_for(metric.name)) continue;
    const Key key{scenario.name, policy, metric.client, metric.name};
    if (is_row && !figures_.contains(key)) order_.push_back(key);
    for (const std::size_t point : points_[spec.id]) {
      Mean& mean = figures_[key][point];
      mean.sum += metric.value;
      ++mean.count;
    }
  }
}

std::string SweepSummary::point_text(std::size_t point) const {
  std::vector<std::string> parts;
  for (const PointValue& value : experiment_.points[point])
    parts.push_back(fmt::format("{} {}", value.parameter.substr(value.parameter.rfind('.') + 1), value.text));
  return printable(fmt::format("{}", fmt::join(parts, ", ")));
}

std::string SweepSummary::banded(const Key& key, std::size_t point, double value) const {
  const auto& [scenario, policy, client, metric] = key;
  const AtPoint& its = runs_.at({scenario, policy, point});
  const Scenario& at = experiment_.scenarios[its.scenario];
  const auto mean = [&](const std::string& of, std::string_view asked) -> std::optional<double> {
    const auto found = figures_.find({scenario, policy, of, std::string(asked)});
    if (found == figures_.end() || !found->second.contains(point)) return std::nullopt;
    return found->second.at(point).value();
  };
  const auto band = figure_band(Bands::built_in(),
                                {error_classes(at, at.policies[its.policy]), policy, its.notes, mean}, client, metric);
  const std::string text = figure({value, value, value, 1}, metric, false);
  return band ? fmt::format("{} {}", text, band_text(*band, metric, value)) : text;
}

std::vector<std::string> SweepSummary::row(const Key& key, const ByPoint& means) const {
  const auto& [scenario, policy, client, metric] = key;
  const auto by_value = [](const auto& a, const auto& b) { return a.second.value() < b.second.value(); };
  const auto lowest = std::min_element(means.begin(), means.end(), by_value);
  const auto highest = std::max_element(means.begin(), means.end(), by_value);
  const auto text = [&](const auto& its) { return banded(key, its->first, its->second.value()); };
  const bool is_constant = lowest->second.value() == highest->second.value();
  return {printable(scenario),
          printable(policy),
          printable(client),
          metric,
          text(lowest),
          is_constant ? "every point" : point_text(lowest->first),
          is_constant ? "" : text(highest),
          is_constant ? "" : point_text(highest->first)};
}

std::string SweepSummary::table(std::size_t width) const {
  std::vector<std::vector<std::string>> rows = {
      {"scenario", "policy", "client", "figure", "lowest", "at", "highest", "at"}};
  for (const Key& key : order_) rows.push_back(row(key, figures_.at(key)));
  return rows.size() > 1 ? aligned(rows, {4, 6}, width) : "";
}

}  // namespace corun

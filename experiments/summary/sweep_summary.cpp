#include "experiments/summary/sweep_summary.h"

#include <algorithm>
#include <iterator>

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

}  // namespace

SweepSummary::SweepSummary(const Experiment& experiment, const Plan& plan) : experiment_(experiment) {
  for (const Plan::Place& place : plan.places)
    if (place.point) points_[plan.runs[place.run].id].push_back(*place.point);
}

void SweepSummary::add(const RunSpec& spec, const RunOutcome& outcome) {
  const Scenario& scenario = experiment_.scenarios[spec.scenario];
  if (outcome.error) return;
  for (const Metric& metric : outcome.metrics) {
    if (!is_shown(metric, outcome)) continue;
    const Key key{scenario.name, scenario.policies[spec.policy].label, metric.client, metric.name};
    if (!figures_.contains(key)) order_.push_back(key);
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

std::vector<std::string> SweepSummary::row(const Key& key, const ByPoint& means) const {
  const auto& [scenario, policy, client, metric] = key;
  const auto by_value = [](const auto& a, const auto& b) { return a.second.value() < b.second.value(); };
  const auto lowest = std::min_element(means.begin(), means.end(), by_value);
  const auto highest = std::max_element(means.begin(), means.end(), by_value);
  const auto text = [&](double value) { return figure({value, value, value, 1}, metric, false); };
  const bool is_constant = lowest->second.value() == highest->second.value();
  return {printable(scenario),
          printable(policy),
          printable(client),
          metric,
          text(lowest->second.value()),
          is_constant ? "every point" : point_text(lowest->first),
          is_constant ? "" : text(highest->second.value()),
          is_constant ? "" : point_text(highest->first)};
}

std::string SweepSummary::table() const {
  std::vector<std::vector<std::string>> rows = {
      {"scenario", "policy", "client", "figure", "lowest", "at", "highest", "at"}};
  for (const Key& key : order_) rows.push_back(row(key, figures_.at(key)));
  return rows.size() > 1 ? aligned(rows, {4, 6}) : "";
}

}  // namespace corun

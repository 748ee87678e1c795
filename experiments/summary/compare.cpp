#include "experiments/summary/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "experiments/summary/compare_samples.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::size_t kFewestPairs = 5;

std::string place(const PolicyRuns& runs) {
  return fmt::format("{}, {}{}", runs.scenario, runs.policy, runs.point ? fmt::format(", point {}", *runs.point) : "");
}

/// Compares the policies of each scenario and backend with the baseline's runs there.
class Comparer {
 public:
  Comparer(const std::vector<std::string>& files, const CompareChoice& choice)
      : file_(files.front()), choice_(choice), measured_(read_samples(files, choice.backend)) {
    if (measured_.groups.empty()) throw_input({file_}, "there are no runs to compare");
    out_.baseline = choice.baseline.empty() ? measured_.groups.front().policy : choice.baseline;
    check_names();
    wanted_ = choice.metrics.empty() ? measured_of(choice.preferred) : full_names(choice.metrics);
    for (std::size_t i = 0; i < measured_.groups.size(); ++i) {
      const PolicyRuns& runs = measured_.groups[i];
      if (runs.policy == out_.baseline) baselines_[{runs.scenario, runs.backend, runs.point}] = i;
    }
    for (std::size_t i = 0; i < measured_.samples.size(); ++i) {
      const Sample& sample = measured_.samples[i];
      if (group(sample).policy == out_.baseline) beside_[{sample.group, sample.client, sample.metric}] = i;
    }
  }

  Comparisons compare() {
    for (const PolicyRuns& runs : measured_.groups) warn(runs);
    for (const Sample& sample : measured_.samples)
      if (is_wanted(sample.metric) && group(sample).policy != out_.baseline) add(sample);
    if (const auto least = std::ranges::min_element(out_.rows, {}, &Comparison::pairs);
        least != out_.rows.end() && least->pairs() < kFewestPairs)
      out_.warnings.push_back(fmt::format(
          "{} pair{} of seeds: {}: give more `seeds`", least->pairs(), least->pairs() == 1 ? "" : "s",
          least->pairs() < kFewestForInterval
              ? fmt::format("fewer than {} have no interval", kFewestForInterval)
              : fmt::format("an interval of fewer than {} is wide, and too narrow for skewed figures", kFewestPairs)));
    if (std::ranges::all_of(measured_.groups, [&](const PolicyRuns& runs) { return runs.policy == out_.baseline; }))
      out_.warnings.push_back(fmt::format(
          "all runs are of {}: a comparison needs runs of another policy, in this file or in another", out_.baseline));
    warn_of_revisions();
    std::ranges::copy(measured_.warnings, std::back_inserter(out_.warnings));
    if (choice_.is_ranked)
      sort();
    else
      std::ranges::stable_sort(out_.rows, {}, &Comparison::point);
    out_.points = std::move(measured_.points);
    out_.has_classes = measured_.has_classes;
    return std::move(out_);
  }

 private:
  const PolicyRuns& group(const Sample& sample) const { return measured_.groups[sample.group]; }
  bool is_wanted(const std::string& metric) const {
    return wanted_.empty() || std::ranges::find(wanted_, metric) != wanted_.end();
  }

  std::vector<std::string> measured_of(std::vector<std::string> metrics) const {
    std::erase_if(metrics, [&](const std::string& metric) { return !is_measured(metric); });
    return metrics;
  }

  void check_names() const {
    std::vector<std::string> policies, metrics;
    for (const PolicyRuns& runs : measured_.groups) policies.push_back(runs.policy);
    for (const Sample& sample : measured_.samples) metrics.push_back(sample.metric);
    check_name("policy", out_.baseline, std::move(policies));
    for (const std::string& metric : full_names(choice_.metrics)) check_name("metric", metric, metrics);
  }

  bool is_measured(const std::string& metric) const {
    return std::ranges::find(measured_.samples, metric, &Sample::metric) != measured_.samples.end();
  }

  /// Names that no run has, and has with an ending.
  std::vector<std::string> full_names(std::vector<std::string> metrics) const {
    for (std::string& metric : metrics)
      if (const MetricDescriptor* known = metric_called(metric); known != nullptr && !is_measured(metric))
        if (is_measured(std::string(known->name))) metric = known->name;
    return metrics;
  }

  void check_name(std::string_view what, const std::string& name, std::vector<std::string> known) const {
    if (std::ranges::find(known, name) != known.end()) return;
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    const std::string nearest = nearest_name(name, known);
    throw Error(ErrorKind::kInput, {file_}, fmt::format("no run has the {} `{}`", what, name),
                fmt::format("{}there are: {}", nearest.empty() ? "" : fmt::format("did you mean `{}`? ", nearest),
                            fmt::join(known, ", ")));
  }

  /// Index of the baseline's runs in the same scenario, backend and point.
  std::optional<std::size_t> baseline_of(const PolicyRuns& runs) const {
    const auto found = baselines_.find({runs.scenario, runs.backend, runs.point});
    return found == baselines_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Warns of what a comparison of the runs of a policy lacks.
  void warn(const PolicyRuns& runs) {
    if (runs.failed > 0)
      out_.warnings.push_back(fmt::format("{}: {} of {} runs failed and are skipped: {}", place(runs), runs.failed,
                                          runs.failed + runs.runs.size(), runs.first_error));
    if (runs.policy == out_.baseline) return;
    const auto beside = baseline_of(runs);
    if (!beside) return warn_of_no_baseline(runs);
    warn_of_seeds(runs, measured_.groups[*beside]);
    warn_of_seeds(measured_.groups[*beside], runs);
  }

  void warn_of_no_baseline(const PolicyRuns& runs) {
    std::string text = fmt::format("{} ({}): skipped: it has no run of {}", runs.scenario, runs.backend, out_.baseline);
    if (std::ranges::find(out_.warnings, text) == out_.warnings.end()) out_.warnings.push_back(std::move(text));
  }

  void warn_of_seeds(const PolicyRuns& runs, const PolicyRuns& beside) {
    std::vector<std::int64_t> alone;
    for (const auto& [seed, id] : runs.runs)
      if (!beside.runs.contains(seed)) alone.push_back(seed);
    if (!alone.empty())
      out_.warnings.push_back(fmt::format("{}: seed{} {} skipped: {} has no such run", place(runs),
                                          alone.size() == 1 ? "" : "s", fmt::join(alone, ", "), beside.policy));
  }

  void warn_of_revisions() {
    std::set<std::string> revisions;
    for (const Comparison& row : out_.rows) revisions.insert(row.revisions.begin(), row.revisions.end());
    if (!revisions.empty())
      out_.warnings.push_back(
          fmt::format("runs of results revisions {} are compared, whose numbers differ for that "
                      "alone: run the older files again",
                      fmt::join(revisions, ", ")));
  }

  void add(const Sample& sample) {
    const auto runs = baseline_of(group(sample));
    if (!runs) return;
    const auto beside = beside_.find({*runs, sample.client, sample.metric});
    if (beside != beside_.end()) add_pairs(sample, measured_.samples[beside->second]);
  }

  void add_pairs(const Sample& sample, const Sample& beside) {
    std::vector<double> values, baseline;
    for (const auto& [seed, value] : sample.values)
      for (const auto& [other_seed, other_value] : beside.values)
        if (seed == other_seed) values.push_back(value), baseline.push_back(other_value);
    if (values.empty()) return;
    const PolicyRuns& runs = group(sample);
    out_.rows.push_back({runs.scenario, runs.backend, runs.point, runs.policy, sample.client, sample.metric,
                         sample.unit, figure_estimate(baseline), figure_estimate(values),
                         paired_interval(values, baseline, Effect::kDifference),
                         paired_interval(values, baseline, Effect::kRatio)});
    std::set<std::string> revisions = runs.revisions;
    revisions.insert(group(beside).revisions.begin(), group(beside).revisions.end());
    out_.rows.back().baseline_band = measured_.band(beside);
    out_.rows.back().value_band = measured_.band(sample);
    if (revisions.size() > 1) out_.rows.back().revisions.assign(revisions.begin(), revisions.end());
  }

  /// By scenario, client and metric as they come first in the results; the best policy first, or point by point.
  void sort() {
    std::map<std::string, std::size_t> order, policy_order;  // of figures; of policies, in a sweep
    const auto key = [](const std::string& backend, const std::string& scenario, const std::string& client) {
      return fmt::format("{}\n{}\n{}", scenario, backend, client);
    };
    std::map<std::string, std::size_t> metric_order;
    for (const Sample& sample : measured_.samples) {
      const PolicyRuns& runs = group(sample);
      order.try_emplace(key(runs.backend, runs.scenario, sample.client), order.size());
      policy_order.try_emplace(runs.policy, policy_order.size());
    }
    for (const MetricDescriptor& metric : metric_table()) metric_order.emplace(metric.name, metric_order.size());
    for (const Comparison& row : out_.rows) metric_order.try_emplace(row.metric, metric_order.size());
    const auto place_of = [&](const Comparison& row) {
      const double goodness = is_better_small(row.metric, row.unit) ? row.value.mean : -row.value.mean;
      return std::tuple(order[key(row.backend, row.scenario, row.client)], metric_order[row.metric],
                        row.point ? static_cast<double>(policy_order[row.policy]) : goodness, row.point);
    };
    std::ranges::stable_sort(out_.rows, {}, place_of);
  }

  std::string file_;
  const CompareChoice& choice_;
  ResultSamples measured_;
  std::vector<std::string> wanted_;  ///< metrics; empty = all
  Comparisons out_;
  std::map<std::tuple<std::string, std::string, std::optional<std::size_t>>, std::size_t> baselines_;  ///< groups
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> beside_;  ///< samples of the baseline
};

}  // namespace

Comparisons compare(const std::vector<std::string>& results, const CompareChoice& choice) {
  return Comparer(results, choice).compare();
}

}  // namespace corun

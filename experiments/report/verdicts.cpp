#include "experiments/report/verdicts.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>

#include "experiments/question/expectation.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/metric_table.h"

namespace corun::report {

namespace {

std::optional<Estimate> estimate_of(const Scenario& scenario, const std::string& policy, const std::string& client,
                                    const std::string& metric) {
  std::vector<double> values;
  for (std::size_t i = 0; i < scenario.settings.size(); ++i) {
    const auto its = scenario.figures.find(i);
    if (scenario.settings[i].policy != policy || its == scenario.figures.end()) continue;
    const auto found = its->second.find({client, metric});
    std::vector<double> here = found == its->second.end() ? std::vector<double>{} : found->second.values;
    if (counts_from_zero(metric)) here.resize(std::max(here.size(), scenario.settings[i].runs.size()), 0.0);
    values.insert(values.end(), here.begin(), here.end());
  }
  return values.empty() ? std::nullopt : std::optional(figure_estimate(values));
}

Verdict judge(const Scenario& scenario, SQLite::Statement& row) {
  const auto text = [&](const char* column) { return row.getColumn(column).getString(); };
  const bool is_qos = row.getColumn("is_qos").getInt() != 0;
  const std::string begin = is_qos ? text("policy") + "." + text("text") : text("text");
  const auto left = estimate_of(scenario, text("policy"), text("client"), text("metric"));
  const bool is_relative = !row.getColumn("other_policy").isNull();
  std::optional<Estimate> right;
  if (is_relative) right = estimate_of(scenario, text("other_policy"), text("other_client"), text("other_metric"));
  if (!left || (is_relative && !right)) return {begin + ": no run gave this figure", false, !is_qos};
  Verdict verdict{fmt::format("{}: {}", begin, figure(*left, text("metric"), true)), false, !is_qos};
  if (right) verdict.text += fmt::format(" against {}", figure(*right, text("other_metric"), true));
  const double threshold = row.getColumn("factor").getDouble() * (right ? right->mean : 1.0);
  const auto relation = parse_relation(text("relation"));
  verdict.holds = relation && holds(left->mean, *relation, threshold);
  return verdict;
}

}  // namespace

std::vector<Verdict> verdicts(const Measured& measured, const Scenario& scenario) {
  std::vector<Verdict> all;
  for (const auto& database : measured.databases) {
    if (!has_table(*database, "expectations")) continue;
    SQLite::Statement row(*database, "SELECT * FROM expectations WHERE scenario = ? ORDER BY is_qos, rowid");
    row.bind(1, scenario.name);
    while (row.executeStep()) {
      Verdict verdict = judge(scenario, row);
      const bool is_known = std::ranges::any_of(all, [&](const Verdict& v) { return v.text == verdict.text; });
      if (!is_known) all.push_back(std::move(verdict));
    }
  }
  return all;
}

}  // namespace corun::report

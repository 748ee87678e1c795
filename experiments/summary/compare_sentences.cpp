#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "experiments/summary/compare.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/metric_table.h"

namespace corun {

namespace {

constexpr double kTiny = 0.001;  // of a ratio: below what figures are shown with

/// What a sentence calls it.
std::string noun(const std::string& metric) {
  const MetricDescriptor* known = find_metric(metric);
  return known == nullptr || known->noun.empty() ? metric : std::string(known->noun);
}

double half_width(const Estimate& effect) { return std::max(effect.high - effect.mean, effect.mean - effect.low); }

/// "1.83 ± 0.05": as many decimals as make two digits of what stands behind ±, two to four; "2.000" where that is none.
std::string with_half_width(const Estimate& effect) {
  const double half = half_width(effect);
  const int digits = half > 0 ? 1 - static_cast<int>(std::floor(std::log10(half))) : 3;
  const int decimals = std::clamp(digits, 2, 4);
  if (!has_interval(effect)) return fmt::format("{:.2f}", effect.mean);
  if (half < 0.00005) return fmt::format("{:.3f}", effect.mean);
  return fmt::format("{:.{}f} ± {:.{}f}", effect.mean, decimals, half, decimals);
}

/// By which the points of a sweep are ordered.
double effect_of(const Comparison& row) { return std::isfinite(row.ratio.mean) ? row.ratio.mean : row.value.mean; }

std::vector<std::string> range_sentences(const Comparisons& found, std::vector<const Comparison*> rows) {
  const auto [least, most] =
      std::ranges::minmax_element(rows, {}, [](const Comparison* row) { return effect_of(*row); });
  const std::string low = sentence(**least, found.baseline), high = sentence(**most, found.baseline);
  if (low == high) return {fmt::format("{} (at each of {} points)", low, rows.size())};
  return {fmt::format("{} (least of {} points: {})", low, rows.size(), found.points.text(*(*least)->point)),
          fmt::format("{} (most of {} points: {})", high, rows.size(), found.points.text(*(*most)->point))};
}

}  // namespace

std::string of_revisions(const Comparison& comparison) {
  const std::vector<std::string>& revisions = comparison.revisions;
  return revisions.empty() ? "" : fmt::format(" (of results revisions {})", fmt::join(revisions, ", "));
}

std::string sentence(const Comparison& comparison, const std::string& baseline) {
  const auto& [scenario, backend, point, policy, client, metric, unit, beside, value, difference, ratio, revisions,
               beside_band, value_band] = comparison;
  const std::string who = client == "device" || client == "cluster" ? "the " + client : client;
  const std::string begin = fmt::format("{} gives {} ", policy, who);
  const bool is_exact = difference.mean == 0 && difference.low == 0 && difference.high == 0;
  const std::string of_several = of_revisions(comparison);
  if (is_exact) return fmt::format("{}the same {} as {}{}", begin, noun(metric), baseline, of_several);
  const bool is_tiny = has_interval(ratio) && ratio.low > 1 - kTiny && ratio.high < 1 + kTiny;
  if (is_tiny) return fmt::format("{}the same {} as {}, to 0.1 %{}", begin, noun(metric), baseline, of_several);
  const bool is_unproven = has_interval(difference) && difference.low <= 0 && difference.high >= 0;
  const std::string doubt = (is_unproven ? " (not significant)" : "") + of_several;
  const bool gives_nothing = value.mean == 0 && ratio.high == 0;
  if (gives_nothing || !std::isfinite(ratio.mean) || !std::isfinite(ratio.low))
    return fmt::format("{}a {} of {}, {} {}{}", begin, noun(metric), figure(value, metric, value.low < value.high),
                       baseline, figure(beside, metric, beside.low < beside.high), doubt);
  return fmt::format("{}{} times the {} of {}{}", begin, with_half_width(ratio), noun(metric), baseline, doubt);
}

namespace {

/// Whether other scenarios have the same figure, and a sentence on it needs the name of its own.
class Ambiguity {
 public:
  explicit Ambiguity(const std::vector<Comparison>& rows) {
    for (const Comparison& row : rows) scenarios_[figure_of(row)].insert(row.scenario);
  }
  std::string place(const Comparison& row) const {
    return scenarios_.at(figure_of(row)).size() > 1 ? row.scenario + ": " : "";
  }

 private:
  using Figure = std::tuple<std::string, std::string, std::string>;  // policy, client, metric
  static Figure figure_of(const Comparison& row) { return {row.policy, row.client, row.metric}; }
  std::map<Figure, std::set<std::string>> scenarios_;
};

}  // namespace

std::vector<std::string> sentences(const Comparisons& found, const std::function<bool(const Comparison&)>& is_told) {
  std::vector<std::string> out;
  const Ambiguity ambiguity(found.rows);
  const auto figure_of = [](const Comparison& row) {
    return std::tie(row.scenario, row.backend, row.client, row.metric, row.policy);
  };
  for (auto row = found.rows.begin(); row != found.rows.end();) {
    std::vector<const Comparison*> points;  // they stand together
    const auto begin = row;
    for (; row != found.rows.end() && figure_of(*row) == figure_of(*begin) && row->point; ++row)
      points.push_back(&*row);
    if (points.empty()) ++row;
    if (!is_told(*begin)) continue;
    if (points.empty())
      out.push_back(ambiguity.place(*begin) + sentence(*begin, found.baseline));
    else
      for (const std::string& text : range_sentences(found, points)) out.push_back(ambiguity.place(*begin) + text);
  }
  return out;
}

}  // namespace corun

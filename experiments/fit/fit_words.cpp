#include "experiments/fit/fit_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "experiments/advise/figures/slower_hosts.h"

namespace corun {

namespace {

double kept_in_all(const FitCurve& curve) {
  const FitPoint* point = point_at(curve, curve.sessions);
  double sum = 0;
  if (point != nullptr)
    for (const auto& kept : point->kept) sum += kept ? kept->low : 0;
  return sum;
}

}  // namespace

std::string policy_text(const std::string& policy) {
  if (policy == "passthrough") return "in turns";
  return policy == kMps ? "under MPS" : "under " + policy;
}

std::string count_text(const FitAnswer& answer, const FitCurve& curve, int most) {
  const auto number = [&](int sessions) {
    return fmt::format("{}{}", sessions, answer.is_lower_bound || sessions >= most ? " or more" : "");
  };
  std::string text = number(curve.sessions);
  if (curve.surely < curve.sessions || (curve.perhaps > curve.sessions && !answer.is_lower_bound))
    text += fmt::format(" (surely {}", curve.surely);
  else
    return text;
  return text + (answer.is_lower_bound ? ")" : fmt::format(", perhaps {})", number(curve.perhaps)));
}

const FitPoint* point_at(const FitCurve& curve, int sessions) {
  const auto found = std::ranges::find(curve.points, sessions, &FitPoint::sessions);
  return found == curve.points.end() ? nullptr : &*found;
}

const FitCurve* best_of(const FitAnswer& answer, bool has_fillers) {
  const FitCurve* best = nullptr;
  const auto rank = [](const FitCurve& curve) { return std::tuple(curve.sessions, curve.surely, kept_in_all(curve)); };
  for (const FitCurve& curve : answer.curves)
    if (curve.has_fillers == has_fillers && curve.refused.empty() && (best == nullptr || rank(curve) > rank(*best)))
      best = &curve;
  return best;
}

std::vector<const FitCurve*> best_first(const FitAnswer& answer, bool has_fillers) {
  const FitCurve* best = best_of(answer, has_fillers);
  std::vector<const FitCurve*> curves;
  if (best != nullptr) curves.push_back(best);
  for (const FitCurve& curve : answer.curves)
    if (curve.has_fillers == has_fillers && curve.refused.empty() && &curve != best) curves.push_back(&curve);
  return curves;
}

std::vector<std::string> filler_parts(const FitQuestion& question, const FitPoint& point) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < point.kept.size(); ++i)
    if (!question.fillers[i].is_server())
      parts.push_back(
          fmt::format("{} keeps {}", question.fillers[i].name, with_band(point.kept[i], point.kept_band[i], 2)));
  return parts;
}

std::string where_text(const std::vector<std::string>& parts) {
  return parts.empty() ? "" : fmt::format(", where {}", fmt::join(parts, ", "));
}

std::string basis_legend(const FitAnswer& answer, std::size_t indent) {
  std::set<Basis> labels;
  for (const FitCurve& curve : answer.curves) labels.insert(curve.basis);
  return legend_of(labels, indent);
}

std::string hosts_legend(const FitAnswer& answer, std::size_t indent) {
  if (!answer.has_slower_hosts) return "";
  return fmt::format(
      "{:<{}}a range from x to y: hosts as quick in company as alone, and {} times as quick; counted by the worse "
      "end\n",
      "hosts", indent, kSlowerHost);
}

std::string names_of(const std::vector<AskedProgram>& programs) {
  std::vector<std::string> names;
  for (const AskedProgram& program : programs) names.push_back(program.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace corun

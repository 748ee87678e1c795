#include "experiments/fit/fit_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/terminal.h"
#include "experiments/fit/fit_words.h"
#include "experiments/fit/server_fit_text.h"
#include "experiments/run/clients/doubts.h"

namespace corun {

namespace {

std::string bar(double fps, double of) {
  constexpr double kWidth = 20;
  const double part = std::clamp(fps / of, 0.0, 1.0);
  return std::string(static_cast<std::size_t>(std::lround(kWidth * part)), '#');
}

/// One session alone shares nothing.
std::string fps_text(const FitCurve& curve, const FitPoint& point) {
  const bool is_alone = point.sessions == 1 && !curve.has_fillers;
  return is_alone ? spread_text(point.fps, 1) : with_band(point.fps, point.fps_band, 1);
}

std::string table_text(const FitQuestion& question, const FitAnswer& answer, std::size_t width) {
  std::vector<std::string> heading = {"",        "sessions", "holds",    "basis",  "FPS",
                                      "1 % low", "p99 ms",   "missed %", "quality"};
  for (const AskedProgram& filler : question.fillers) heading.push_back(filler.name + " keeps");
  heading.push_back(fmt::format("FPS of {:.6g}", question.fps));
  std::vector<std::vector<std::string>> rows = {heading};
  for (const FitCurve& curve : answer.curves) {
    std::string label = policy_text(curve.policy);
    if (curve.has_fillers) label = fmt::format("with {}, {}", names_of(question.fillers), label);
    if (!curve.refused.empty()) rows.push_back({label, "", "refused"});
    for (const FitPoint& point : curve.points) {
      rows.push_back({label, fmt::format("{}", point.sessions),
                      point.holds                               ? "yes"
                      : point.may_hold || answer.is_lower_bound ? "perhaps"
                                                                : "no",
                      label.empty() ? "" : std::string(to_string(curve.basis)), fps_text(curve, point),
                      spread_text(point.low, 1), spread_text(point.p99_ms, 1), spread_text(point.missed, 1, 100),
                      spread_text(point.quality, 2)});
      for (std::size_t i = 0; i < point.kept.size(); ++i)
        rows.back().push_back(with_band(point.kept[i], point.kept_band[i], 2));
      rows.back().resize(heading.size() - 1);
      rows.back().push_back(bar(point.fps ? point.fps->low : 0, question.fps));
      label.clear();
    }
    rows.back().resize(heading.size());
  }
  return aligned(rows, {1}, width);
}

constexpr std::size_t kLegendIndent = 9;

std::string assumptions_text(const FitQuestion& question, const FitAnswer& answer) {
  std::string text = fmt::format(
      "\nholds    each session has {:.6g} FPS or more, and a p99 of its frame times of {:.3g} ms "
      "or less",
      kHeldPart * answer.own_fps.value_or(question.fps), question.most_p99_ms);
  if (question.least_1low) text += fmt::format(", and a 1 % low of {:.6g} or more", *question.least_1low);
  if (question.most_missed) text += fmt::format(", and misses {:.3g} % or less", 100 * *question.most_missed);
  text += fmt::format(
      "\nsurely   with {0:.3g} % more frames to draw, perhaps with {0:.3g} % fewer: what frame rates in company are "
      "off\n"
      "figures  of the session that is worst in each, a mean over seeds; in brackets where 90 % of measured figures "
      "lie, which were predicted so\n",
      100 * kGameError);
  if (answer.own_fps)
    text += fmt::format(
        "alone    {} has {:.1f} FPS: its host waits, and not for the GPU; sessions are held to {:.3g} % of that\n",
        question.game.name, *answer.own_fps, 100 * kHeldPart);
  text += basis_legend(answer, kLegendIndent) + hosts_legend(answer, kLegendIndent);
  if (!question.fillers.empty()) text += "keeps    rate over the rate alone\n";
  if (answer.is_lower_bound)
    text += fmt::format(
        "or more  {}'s capture was paced and left the GPU idle for most of the time: a GPU lowers its clock then, and "
        "its frames may take less than half as long in company; {}\n",
        question.game.name, kCaptureUncapped);
  if (answer.has_unknown_draws) text += fmt::format("assumed  {}\n", unknown_draws_text(question.game.name));
  for (const FitCurve& curve : answer.curves)
    if (!curve.refused.empty()) text += fmt::format("{}: refused: {}\n", curve.policy, printable(curve.refused));
  for (const std::string& warning : answer.warnings) text += fmt::format("{}\n", printable(warning));
  return text;
}

/// "With train: 2 under pilotfish, where train keeps 0.31; 1 in turns, where train keeps 0.5."
std::string with_fillers(const FitQuestion& question, const FitAnswer& answer) {
  std::vector<std::string> parts;
  for (const FitCurve* curve : best_first(answer, true)) {
    const FitPoint* point = point_at(*curve, curve->sessions);
    const std::string where = point == nullptr ? "" : where_text(filler_parts(question, *point));
    parts.push_back(
        fmt::format("{}, {}{}", count_text(answer, *curve, question.most_sessions), policy_text(curve->policy), where));
  }
  if (parts.empty()) return "";
  return fmt::format(" With {}: {}.", names_of(question.fillers), fmt::join(parts, "; "));
}

std::string count_sentence(const FitQuestion& question, const FitAnswer& answer) {
  const FitCurve* best = best_of(answer, false);
  if (best == nullptr) return "No policy could be tried.";
  if (best->sessions == 0 && answer.is_lower_bound)
    return fmt::format("Cannot tell whether {} holds {:.6g} FPS on {}: its capture left the GPU idle; {}.",
                       question.game.name, question.fps, question.gpu, kCaptureUncapped);
  if (best->sessions == 0)
    return fmt::format("{} does not hold {:.6g} FPS on {} even alone: it has {}, with a p99 of {} ms.",
                       question.game.name, question.fps, question.gpu, spread_text(best->points.front().fps, 1),
                       spread_text(best->points.front().p99_ms, 1));
  const std::string under = best->policy == "passthrough" ? "" : " " + policy_text(best->policy),
                    own = answer.own_fps ? fmt::format(", or the {:.1f} that its host allows", *answer.own_fps) : "";
  return fmt::format("{} session{} of {} hold{} {:.6g} FPS on {}{}{}.{}",
                     count_text(answer, *best, question.most_sessions), best->sessions == 1 ? "" : "s",
                     question.game.name, best->sessions == 1 ? "s" : "", question.fps, question.gpu, own, under,
                     with_fillers(question, answer));
}

}  // namespace

bool fits(const FitAnswer& answer) {
  return std::ranges::any_of(answer.curves, [&](const FitCurve& curve) {
    return curve.has_fillers == answer.curves.front().has_fillers && curve.sessions > 0;
  });
}

std::string fit_sentence(const FitQuestion& question, const FitAnswer& answer) {
  if (question.has_servers()) return server_fit_sentence(question, answer) + "\n";
  return fmt::format("{}{}{}\n", count_sentence(question, answer), answer.whose_times.empty() ? "" : " ",
                     answer.whose_times);
}

std::string fit_text(const FitQuestion& question, const FitAnswer& answer, std::size_t width) {
  if (question.has_servers())
    return fmt::format("{}\n{}\n{}", fit_sentence(question, answer), server_fit_table(question, answer, width),
                       wrapped(server_fit_legend(question, answer), width, kServerLegendIndent));
  return fit_sentence(question, answer) + "\n" + table_text(question, answer, width) +
         wrapped(assumptions_text(question, answer), width, kLegendIndent);
}

}  // namespace corun

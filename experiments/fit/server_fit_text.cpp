#include "experiments/fit/server_fit_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/advise/figures/server_text.h"
#include "experiments/base/terminal.h"
#include "experiments/fit/fit_words.h"

namespace corun {

namespace {

bool is_of_copies(const FitQuestion& question, const FitAnswer& answer) {
  return !answer.setting.has_frames && !question.game.is_server();
}

/// "TTFT 500 ms and TPOT 50 ms"
std::string promises_of(const ServerShare& share) {
  std::vector<std::string> parts;
  for (const PromisedFigure* figure : {&share.ttft, &share.tpot})
    if (figure->most_ms > 0) parts.push_back(fmt::format("{} {:.6g} ms", figure->name, figure->most_ms));
  return parts.empty() ? "promises, of which there are none (state `slo`)"
                       : fmt::format("{}", fmt::join(parts, " and "));
}

/// "train keeps 0.85 (0.65 to 1.00)" of what has no promise, and of the counted copies "each keeps".
std::vector<std::string> kept_parts(const FitQuestion& question, const FitPoint& point) {
  std::vector<std::string> parts;
  if (point.copies_kept)
    parts.push_back(fmt::format("{} keeps {}", point.sessions == 1 ? "it" : "each of them",
                                with_band(point.copies_kept, point.copies_band, 2)));
  std::ranges::move(filler_parts(question, point), std::back_inserter(parts));
  return parts;
}

/// "2 (surely 1, perhaps 3) under MPS, where train keeps 0.31"
std::string curve_text(const FitQuestion& question, const FitAnswer& answer, const FitCurve& curve) {
  std::string text = fmt::format("{} {}", count_text(answer, curve, question.most_sessions), policy_text(curve.policy));
  const FitPoint* point = point_at(curve, curve.sessions);
  if (curve.sessions == 0 || point == nullptr) return text;
  return text + where_text(kept_parts(question, *point));
}

std::string curves_text(const FitQuestion& question, const FitAnswer& answer, bool has_fillers) {
  std::vector<std::string> parts;
  for (const FitCurve* curve : best_first(answer, has_fillers)) parts.push_back(curve_text(question, answer, *curve));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// A server that does not keep its promises with nothing next to it; "" where all do.
std::string missed_alone(const FitCurve& curve, int alone) {
  const FitPoint* point = point_at(curve, alone);
  if (point == nullptr) return "";
  for (const auto& [server, share] : point->servers)
    if (const std::string missed = alone_text(server, share); !missed.empty()) return missed;
  return "";
}

std::string what_is_counted(const FitQuestion& question, const FitAnswer& answer) {
  if (answer.setting.has_frames) return fmt::format("sessions of {} hold {:.6g} FPS", question.game.name, question.fps);
  if (question.game.is_server()) return fmt::format("servers like {} keep their promises", question.game.name);
  return fmt::format("copies of {} fit next to {}", question.game.name, names_of(question.fillers));
}

/// "TTFT of chat ms" and "TPOT of chat ms" of each server.
std::vector<std::string> heading_of(const FitQuestion& question, const FitAnswer& answer) {
  std::vector<std::string> heading = {"", "count", "holds", "basis"};
  if (answer.setting.has_frames) heading.emplace_back("FPS");
  if (is_of_copies(question, answer)) heading.push_back(question.game.name + " keeps");
  const auto add = [&](const AskedProgram& program) {
    if (program.is_server())
      heading.insert(heading.end(), {program.name + " TTFT ms", "TPOT ms", "good"});
    else
      heading.push_back(program.name + " keeps");
  };
  if (question.game.is_server()) add(question.game);
  for (const AskedProgram& filler : question.fillers) add(filler);
  return heading;
}

void add_server(const FitPoint& point, const std::string& server, std::vector<std::string>& row) {
  const auto its = point.servers.find(server);
  if (its == point.servers.end())
    row.insert(row.end(), {"", "", ""});
  else
    row.insert(row.end(), {p99_text(its->second.ttft), p99_text(its->second.tpot), spread_text(its->second.good, 2)});
}

std::vector<std::string> row_of(const FitQuestion& question, const FitAnswer& answer, const FitPoint& point,
                                std::string_view basis) {
  const char* holds = point.surely_holds ? "surely" : point.holds ? "yes" : point.may_hold ? "perhaps" : "no";
  std::vector<std::string> row = {"", fmt::format("{}", point.sessions), holds, std::string(basis)};
  if (answer.setting.has_frames) row.push_back(with_band(point.fps, point.fps_band, 1));
  if (is_of_copies(question, answer)) row.push_back(with_band(point.copies_kept, point.copies_band, 2));
  if (question.game.is_server()) add_server(point, question.game.name, row);
  for (std::size_t i = 0; i < point.kept.size(); ++i)
    if (question.fillers[i].is_server())
      add_server(point, question.fillers[i].name, row);
    else
      row.push_back(with_band(point.kept[i], point.kept_band[i], 2));
  return row;
}

}  // namespace

std::string server_fit_sentence(const FitQuestion& question, const FitAnswer& answer) {
  const bool counts_next_to = is_of_copies(question, answer);
  const FitCurve* best = best_of(answer, counts_next_to);
  if (best == nullptr) return "No policy could be tried.";
  if (const std::string missed = missed_alone(*best, counts_next_to ? 0 : 1); !missed.empty() && best->sessions == 0)
    return fmt::format("{} on {}: nothing fits next to it.", missed, question.gpu);
  std::string promises;
  if (!best->points.empty())
    for (const auto& [server, share] : best->points.front().servers)
      promises += fmt::format("{}{} of {}", promises.empty() ? "" : ", ", promises_of(share), server);
  std::string text = fmt::format("How many {} on {} ({}): {}.", what_is_counted(question, answer), question.gpu,
                                 promises, curves_text(question, answer, counts_next_to));
  if (!counts_next_to && !question.fillers.empty())
    text += fmt::format(" With {}: {}.", names_of(question.fillers), curves_text(question, answer, true));
  return text;
}

std::string server_fit_table(const FitQuestion& question, const FitAnswer& answer, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {heading_of(question, answer)};
  for (const FitCurve& curve : answer.curves) {
    std::string label = policy_text(curve.policy);
    if (curve.has_fillers) label = fmt::format("with {}, {}", names_of(question.fillers), label);
    if (!curve.refused.empty()) rows.push_back({label, "", "refused"});
    for (const FitPoint& point : curve.points) {
      rows.push_back(row_of(question, answer, point, label.empty() ? "" : to_string(curve.basis)));
      rows.back().front() = std::exchange(label, "");
    }
  }
  for (std::vector<std::string>& row : rows) row.resize(rows.front().size());
  return aligned(rows, {1}, width);
}

std::string server_fit_legend(const FitQuestion& question, const FitAnswer& answer) {
  std::string text =
      "TTFT, TPOT  99th percentiles, of the copy that is worst in each, a mean over seeds; in brackets where 90 % of "
      "measured figures lie, which were predicted so\n"
      "good        part of the requests within both promises\n"
      "holds       yes: by the figures; surely, perhaps: by the ends of the brackets, or, without any, by a quarter\n";
  text += basis_legend(answer, kServerLegendIndent) + hosts_legend(answer, kServerLegendIndent);
  if (is_of_copies(question, answer) || !question.fillers.empty()) text += "keeps       rate over the rate alone\n";
  for (const FitCurve& curve : answer.curves)
    if (!curve.refused.empty()) text += fmt::format("{}: refused: {}\n", curve.policy, printable(curve.refused));
  for (const std::string& warning : answer.warnings) text += fmt::format("{}\n", printable(warning));
  return text;
}

}  // namespace corun

#include "experiments/validate/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/base/terminal.h"
#include "experiments/summary/summary.h"

namespace corun::validation {

namespace {

using Table = std::vector<std::vector<std::string>>;

std::string percent(double value) { return fmt::format("{:.1f} %", 100 * value); }
std::string signed_percent(double value) { return fmt::format("{:+.1f} %", 100 * value); }

/// A cell of a Markdown table.
std::string cell_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string markdown(const Table& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) text += fmt::format(" {} |", cell_text(cell));
    text += "\n";
    if (i > 0) continue;
    for (std::size_t column = 0; column < rows[0].size(); ++column) text += column == 0 ? "|---|" : "---|";
    text += "\n";
  }
  return text;
}

std::string with_interval(const std::optional<Estimate>& value) {
  if (!value) return "";
  const double half = (value->high - value->low) / 2;
  return !has_interval(*value) ? short_number(value->mean)
                               : fmt::format("{} ± {}", short_number(value->mean), short_number(half));
}

std::string group_name(const ScoreGroup& group) {
  const bool tells_bound = group.tier != Tier::kGame;
  return tells_bound ? fmt::format("{}, {}-bound", to_string(group.tier), to_string(group.bound))
                     : std::string(to_string(group.tier));
}

std::string goal_text(const Goal& goal) {
  std::string text =
      goal.mean == goal.worst ? percent(goal.worst) : fmt::format("{} / {}", percent(goal.mean), percent(goal.worst));
  if (goal.absolute > 0) text += fmt::format(" or {}", goal.absolute);
  return text;
}

std::string verdict_of(const ScoreGroup& group) {
  if (group.scored == 0) return "missing";
  if (!group.is_decided()) return "too few frames";
  return group.is_met ? "met" : "missed";
}

/// Nothing where no row decides anything.
std::string error_text(const ScoreGroup& group, double error) { return group.is_decided() ? percent(error) : ""; }

Table groups_table(const ValidationResult& result) {
  Table rows = {{"cells", "what", "metric", "scored", "mean", "p50", "p90", "worst", "goal (mean / worst)", "noise",
                 "outside", "goal"}};
  for (const ScoreGroup& group : result.groups)
    rows.push_back({group.is_seen ? "seen" : "blind", group_name(group), group.metric,
                    fmt::format("{}/{}", group.scored, group.rows), error_text(group, group.mean),
                    error_text(group, group.p50), error_text(group, group.p90), error_text(group, group.worst),
                    goal_text(group.goal),
                    fmt::format("{}{}", group.inside_noise,
                                group.undecided > 0 ? fmt::format(" ({} undecided)", group.undecided) : ""),
                    fmt::format("{}", group.outside), verdict_of(group)});
  return rows;
}

Table rows_table(const ValidationResult& result, Tier tier, bool is_seen) {
  Table rows = {{"cell", "client", "metric", "predicted", "measured", "error", "noise", "bound", "verdict"}};
  for (const ScoreRow& row : result.rows) {
    if (row.tier != tier || row.is_seen != is_seen) continue;
    const std::string cell = row.tier == Tier::kSolo && row.cell.policy == "passthrough"
                                 ? row.cell.scenario
                                 : fmt::format("{} / {}", row.cell.scenario, row.cell.policy);
    rows.push_back({cell, row.client, row.metric, with_interval(row.predicted), with_interval(row.measured),
                    row.has_error() ? signed_percent(row.error) : "", row.has_error() ? percent(row.noise) : "",
                    std::string(to_string(row.bound)), std::string(to_string(row.verdict))});
  }
  return rows;
}

Table nulls_table(const ValidationResult& result) {
  Table rows = {{"cells", "what", "metric", "null model", "rows", "its mean error", "ours on the same", "beaten"}};
  for (const ScoreGroup& group : result.groups)
    for (const NullScore& null : group.nulls)
      rows.push_back({group.is_seen ? "seen" : "blind", group_name(group), group.metric, null.model,
                      fmt::format("{}", null.rows), percent(null.mean), percent(null.predicted),
                      null.predicted < null.mean ? "yes" : "no"});
  return rows;
}

Table rankings_table(const ValidationResult& result) {
  Table rows = {{"scenario", "by", "predicted, best first", "measured, best first", "regret"}};
  for (const Ranking& ranking : result.rankings) {
    const auto order = [&](Estimate PolicyMerit::*of) {
      std::vector<PolicyMerit> sorted = ranking.policies;
      std::ranges::stable_sort(sorted, std::greater<>(), [of](const PolicyMerit& p) { return (p.*of).mean; });
      std::string text;
      for (const PolicyMerit& policy : sorted)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", policy.policy, short_number((policy.*of).mean));
      return text;
    };
    rows.push_back({ranking.scenario, std::string(to_string(ranking.merit)), order(&PolicyMerit::predicted),
                    order(&PolicyMerit::measured), percent(regret(ranking))});
  }
  return rows;
}

std::string ranking_sentence(const ValidationResult& result) {
  const RankingScore score = score_rankings(result.rankings);
  if (!score.tau)
    return fmt::format("No pair of policies lies further apart than twice the noise ({} pairs).", score.too_close);
  return fmt::format(
      "Kendall's tau {:.2f} over {} pairs of policies whose measured gap is more than twice the noise ({} are closer; "
      "goal "
      "0.8). Regret of taking the policy that is predicted best: mean {}, worst {} (goal 5 %).",
      *score.tau, score.concordant + score.discordant, score.too_close, percent(score.mean_regret),
      percent(score.worst_regret));
}

Table budget_table(const ValidationResult& result) {
  Table rows = {{"cell", "client", "metric", "error"}};
  for (const ConstantEffect& effect : result.effects)
    rows[0].push_back(fmt::format("{} + {}", effect.constant, effect.uncertainty));
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const ScoreRow& row = result.rows[i];
    std::vector<std::string> line = {fmt::format("{} / {}", row.cell.scenario, row.cell.policy), row.client, row.metric,
                                     row.has_error() ? signed_percent(row.error) : ""};
    for (const ConstantEffect& effect : result.effects)
      line.push_back(std::abs(effect.change[i]) < 5e-5 ? "" : fmt::format("{:+.2f} %", 100 * effect.change[i]));
    rows.push_back(std::move(line));
  }
  return rows;
}

/// To first order nothing is known of a constant that is further off.
bool is_believable(const Explanation& explanation) {
  constexpr double kMostSteps = 20;
  return std::abs(explanation.steps) <= kMostSteps;
}

std::string explanation_sentence(const Explanation& explanation) {
  const std::string by = explanation.moved != 0 ? signed_percent(explanation.moved)
                                                : fmt::format("{:+.1f} of its uncertainty", explanation.steps);
  return fmt::format("`{}` moved by {} would take away {} of the squared errors of the rates.", explanation.constant,
                     by, percent(explanation.explained));
}

Table states_table(const Validation& validation) {
  Table rows = {
      {"cell", "samples", "SM clock, MHz", "memory clock, MHz", "power, W", "temperature, C", "throttled by"}};
  const auto text = [](const Reading& r) { return fmt::format("{:.0f} / {:.0f} / {:.0f}", r.least, r.mean, r.most); };
  for (const auto& [cell, state] : validation.states())
    if (state.samples > 0)
      rows.push_back({fmt::format("{} / {}", cell.scenario, cell.policy), fmt::format("{}", state.samples),
                      text(state.sm_clock_mhz), text(state.memory_clock_mhz), text(state.power_w),
                      text(state.temperature_c), throttle_text(state.throttle_reasons)});
  return rows;
}

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("- {}\n", printable(line));
  return text;
}

/// Why cells have no figures, a sentence for each cell and reason.
std::vector<std::string> failure_lines(const Validation& validation) {
  std::vector<std::string> lines;
  for (const Cell& cell : validation.cells())
    for (const auto* figures : {&validation.predicted(), &validation.measured()}) {
      const auto failures = figures->failures(cell.key);
      for (const std::string& reason : std::set<std::string>(failures.begin(), failures.end()))
        lines.push_back(fmt::format("{} / {} ({}, {} runs): {}", cell.key.scenario, cell.key.policy,
                                    figures == &validation.predicted() ? "predicted" : "measured",
                                    std::ranges::count(failures, reason), reason));
    }
  return lines;
}

std::vector<std::string> canary_lines(const Validation& validation) {
  std::vector<std::string> lines;
  for (const Disturbance& disturbance : validation.disturbances())
    lines.push_back(fmt::format("{} / {}, seed {}: {}", disturbance.cell.scenario, disturbance.cell.policy,
                                disturbance.seed, signed_percent(disturbance.change)));
  return lines;
}

std::string coverage_sentence(const ValidationResult& result) {
  const auto missing = std::ranges::count(result.rows, Verdict::kMissing, &ScoreRow::verdict);
  const auto scored = std::ssize(result.rows) - missing;
  return fmt::format("{} of {} figures are scored ({}).", scored, result.rows.size(),
                     percent(result.rows.empty() ? 0 : static_cast<double>(scored) / std::ssize(result.rows)));
}

/// Each once; "" where nothing was published.
std::string earlier_sentence(const ReportFacts& facts) {
  std::vector<std::string> known;
  for (const std::string& sha256 : facts.sha256_of_earlier)
    if (const std::string text = "`" + sha256 + "`"; !sha256.empty() && std::ranges::find(known, text) == known.end())
      known.push_back(text);
  if (known.empty()) return "";
  return fmt::format(" Before them, {} {} published.", fmt::join(known, ", "), known.size() == 1 ? "was" : "were");
}

std::string introduction(const Validation& validation, const ValidationResult& result, const ReportFacts& facts) {
  std::string text = fmt::format("# Validation of {}\n\n", printable(validation.experiment().name));
  text += fmt::format("Predictions, SHA-256 `{}`", validation.predictions().sha256);
  if (!facts.is_scored_again) {
    text += ", were published before anything was measured.";
  } else if (std::ranges::count(facts.sha256_of_earlier, validation.predictions().sha256) ==
             std::ssize(facts.sha256_of_earlier)) {
    text += ", are those that were published before the measurements, which were made earlier.";
  } else {
    text += ", were made after the measurements: this is no blind test." + earlier_sentence(facts);
  }
  text += fmt::format(" Measured: {}, windows of up to {:.6g} s. {}\n\n", facts.backend, facts.window_s,
                      coverage_sentence(result));
  return text;
}

constexpr char kHowToRead[] =
    "Blind cells were never used to make the models; seen ones could have been. An error is predicted over measured, "
    "less one; its noise floor is half of the 95 % interval of what was measured less what was predicted, run by run "
    "of the same seed (of what was measured, where seeds differ). `inside noise`: the measurement cannot tell the two "
    "apart; undecided: and its floor is wider than the goal; `too few frames`: a run has fewer than 500, so its 99th "
    "percentile decides nothing. A goal is met where no row is outside its bound and the mean "
    "is within its own.\n\n";

std::string rows_section(const ValidationResult& result) {
  std::string text;
  for (const bool is_seen : {false, true})
    for (const Tier tier : {Tier::kSolo, Tier::kTimeSliced, Tier::kConcurrent, Tier::kGame}) {
      const Table rows = rows_table(result, tier, is_seen);
      if (rows.size() > 1)
        text +=
            fmt::format("## {}: {}\n\n{}\n", to_string(tier), is_seen ? "seen cells" : "blind cells", markdown(rows));
    }
  return text;
}

std::string budget_section(const ValidationResult& result) {
  if (result.effects.empty()) return "";
  std::string text =
      "## Error budget\n\nWhat each prediction would change by if a constant were larger by its "
      "uncertainty.\n\n";
  for (const Explanation& explanation : result.explanations)
    if (is_believable(explanation)) text += "- " + explanation_sentence(explanation) + "\n";
  return text + "\n" + markdown(budget_table(result)) + "\n";
}

std::string measurement_section(const Validation& validation, const ReportFacts& facts) {
  std::string text = "## The measurement\n\n";
  const Table states = states_table(validation);
  if (!facts.monitor_absence.empty())
    text += fmt::format("The device's state was not read: {}.\n\n", facts.monitor_absence);
  if (states.size() > 1) text += "Least / mean / most during the runs of a cell.\n\n" + markdown(states) + "\n";
  const std::vector<std::string> canaries = canary_lines(validation);
  text += canaries.empty() ? "The canary was within 1 % before every run, or was not asked for.\n\n"
                           : "The canary was off by more than 1 % before\n\n" + list(canaries) + "\n";
  return text;
}

std::string notes_section(const Validation& validation) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> notes = validation.notes();
  if (notes.empty()) return "";
  const std::size_t left_out = notes.size() > kMost ? notes.size() - kMost : 0;
  notes.resize(notes.size() - left_out);
  std::string text = "## What the runs said of themselves\n\n" + list(notes);
  if (left_out > 0) text += fmt::format("- {} more in `runs.notes` of the results\n", left_out);
  return text + "\n";
}

}  // namespace

std::string validation_report(const Validation& validation, const ValidationResult& result, const ReportFacts& facts) {
  std::string text = introduction(validation, result, facts);
  text += kHowToRead + markdown(groups_table(result)) + "\n" + rows_section(result);
  const Table nulls = nulls_table(result);
  if (nulls.size() > 1) text += "## Null models\n\nMean absolute errors.\n\n" + markdown(nulls) + "\n";
  if (!result.rankings.empty())
    text += "## Ranking of policies\n\n" + ranking_sentence(result) + "\n\n" + markdown(rankings_table(result)) + "\n";
  text += budget_section(result) + measurement_section(validation, facts);
  const std::vector<std::string> failures = failure_lines(validation);
  if (!failures.empty()) text += "## Missing\n\n" + list(failures) + "\n";
  text += notes_section(validation);
  text.pop_back();
  return text;
}

std::string validation_table(const ValidationResult& result, std::size_t width) {
  std::string text = aligned(groups_table(result), {3, 4, 5, 6, 7}, width);
  text += coverage_sentence(result) + "\n";
  for (const ScoreGroup& group : result.groups)
    for (const NullScore& null : group.nulls)
      if (null.predicted >= null.mean)
        text += fmt::format("null model `{}` is as good for {}, {}: {} against {}\n", null.model, group_name(group),
                            group.metric, percent(null.mean), percent(null.predicted));
  if (!result.rankings.empty()) text += ranking_sentence(result) + "\n";
  constexpr double kMostOfIt = 0.5;
  for (const Explanation& explanation : result.explanations)
    if (is_believable(explanation) && explanation.explained > kMostOfIt)
      text += explanation_sentence(explanation) + "\n";
  return text;
}

bool meets_goals(const ValidationResult& result) {
  return std::ranges::all_of(result.groups,
                             [](const ScoreGroup& group) { return !group.is_decided() || group.is_met; });
}

}  // namespace corun::validation

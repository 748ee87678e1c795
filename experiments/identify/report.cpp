#include "experiments/identify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/base/json.h"
#include "experiments/base/terminal.h"
#include "traces/base/units.h"

namespace corun::identification {

namespace {

std::string name_of(const RuleVerdict& verdict, const Predictions& predictions) {
  return predictions.rules()[verdict.rule].name();
}

std::string names_of(const std::vector<RuleVerdict>& verdicts, const Predictions& predictions) {
  std::vector<std::string> names;
  for (const RuleVerdict& verdict : verdicts) names.push_back(name_of(verdict, predictions));
  return fmt::format("{}", fmt::join(names, "; "));
}

bool is_duration(const FoundValue& value) { return value.key != sm_fill_exponent_unknown().key; }

/// "2.097 ms", "175 us", "0.52".
std::string shown(const FoundValue& found, double value) {
  if (!is_duration(found)) return fmt::format("{:.2f}", value);
  return value < 1e6 ? fmt::format("{:.0f} us", value / 1e3) : fmt::format("{:.3f} ms", value / 1e6);
}

std::string interval(const FoundValue& found) {
  return fmt::format("{} to {}", shown(found, found.low), shown(found, found.high));
}

std::string as_written(const FoundValue& found) {
  if (!is_duration(found)) return fmt::format("{:.3f}", found.value);
  return format_duration(Duration{std::llround(found.value)});
}

std::string shown(const FoundValue& found) {
  return fmt::format("{} {} ({}){}", found.key, shown(found, found.value), interval(found),
                     found.is_at_edge ? ", at the edge of what is looked at: the truth may lie beyond" : "");
}

/// The figure of a trial of which two predictions differ most, in standard deviations.
std::size_t deciding_figure(const Figures& a, const Figures& b, const Noise& noise) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < a.size(); ++i)
    if (std::fabs(deviation(a[i], b[i], noise)) > std::fabs(deviation(a[best], b[best], noise))) best = i;
  return best;
}

std::string milliseconds(const Figure& figure) { return fmt::format("{:.2f}", figure.mean); }

std::string figure_name(const Figure& figure) { return fmt::format("{} {}", figure.client, figure.name); }

const RuleVerdict& runner_up(const Identification& found) { return found.verdicts[found.verdicts.size() > 1 ? 1 : 0]; }

std::string table_of_trials(const Identification& found, Predictions& predictions, const IdentifyOptions& options,
                            std::size_t width) {
  std::vector<std::vector<std::string>> rows = {
      {"trial", "bits", "figure", "measured", "best rule", "runner-up", "off", "most likely after it", ""}};
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const IdentifyStep& step = found.steps[i];
    const Figures& best = predictions.of(found.best().best, step.run.trial);
    const Figures& other = predictions.of(runner_up(found).best, step.run.trial);
    const std::size_t figure = deciding_figure(best, other, options.noise);
    const RuleVerdict& likely = step.verdicts.front();
    rows.push_back({step.run.trial.name, fmt::format("{:.1f}", step.expected_bits), figure_name(best[figure]),
                    milliseconds(step.run.measured[figure]), milliseconds(best[figure]), milliseconds(other[figure]),
                    fmt::format("{:.1f}", found.misfits[i]), name_of(likely, predictions),
                    fmt::format("{:.3f}", likely.probability)});
  }
  return aligned(rows, {1, 3, 4, 5, 6, 8}, width);
}

std::string table_of_rules(const Identification& found, const Predictions& predictions, std::size_t width) {
  std::vector<std::vector<std::string>> rows = {{"rule", "probability"}};
  for (const RuleVerdict& verdict : found.verdicts)
    rows.push_back({name_of(verdict, predictions),
                    verdict.probability < 1e-4 ? "below 0.0001" : fmt::format("{:.4f}", verdict.probability)});
  return aligned(rows, {1}, width);
}

std::string misfit_sentence(const Identification& found, Predictions& predictions, const IdentifyOptions& options) {
  const auto worst = std::ranges::max_element(found.misfits);
  const TrialRun& run = found.steps[static_cast<std::size_t>(worst - found.misfits.begin())].run;
  const Figures& predicted = predictions.of(found.best().best, run.trial);
  const std::size_t figure = deciding_figure(run.measured, predicted, options.noise);
  return fmt::format("in trial `{}` it is off by {:.1f} standard deviations; worst is {}: {} measured, {} predicted",
                     run.trial.name, *worst, figure_name(predicted[figure]), milliseconds(run.measured[figure]),
                     milliseconds(predicted[figure]));
}

void add_figures(Json& json, const IdentifyStep& step, Predictions& predictions) {
  json.key("figures").array();
  for (std::size_t i = 0; i < step.run.measured.size(); ++i) {
    const Figure& measured = step.run.measured[i];
    json.object().field("client", measured.client).field("name", measured.name).field("measured", measured.mean);
    json.field("measured_spread", measured.count > 1 ? std::sqrt(measured.squares / (measured.count - 1)) : 0.0);
    json.key("predicted").array();
    for (const RuleVerdict& verdict : standing(step.verdicts))
      json.object()
          .field("rule", name_of(verdict, predictions))
          .field("value", predictions.of(verdict.best, step.run.trial)[i].mean)
          .end();
    json.end().end();
  }
  json.end();
}

void add_verdicts(Json& json, const std::vector<RuleVerdict>& verdicts, const Predictions& predictions) {
  json.key("rules").array();
  for (const RuleVerdict& verdict : verdicts)
    json.object().field("name", name_of(verdict, predictions)).field("probability", verdict.probability).end();
  json.end();
}

/// What all of them say, or nothing.
template <class Value>
std::optional<std::string> agreed(const std::vector<RuleVerdict>& verdicts, const std::vector<Rule>& rules,
                                  Value Rule::*member) {
  const Value value = rules[verdicts.front().rule].*member;
  for (const RuleVerdict& verdict : verdicts)
    if (rules[verdict.rule].*member != value) return std::nullopt;
  return std::string(to_string(value));
}

}  // namespace

std::vector<std::string> findings(const Identification& found, Predictions& predictions,
                                  const IdentifyOptions& options) {
  if (found.steps.empty()) return {"No trial tells these rules apart: nothing was run."};
  const std::vector<RuleVerdict> likely = standing(found.verdicts);
  std::vector<std::string> sentences;
  if (!found.fits) {
    sentences.push_back(fmt::format("The GPU follows none of these rules. Nearest is {}: {}.",
                                    name_of(found.best(), predictions), misfit_sentence(found, predictions, options)));
  } else if (likely.size() == 1) {
    sentences.push_back(fmt::format("The GPU follows: {}.", name_of(found.best(), predictions)));
  } else if (found.ending == Ending::kNothingTells) {
    sentences.push_back(fmt::format("These are the same to every trial there is: {}.", names_of(likely, predictions)));
  } else {
    sentences.push_back(
        fmt::format("Not distinguished by {} trials: {}.", found.steps.size(), names_of(likely, predictions)));
  }
  for (const FoundValue& value : found.values) sentences.push_back("  " + shown(value));
  if (found.fits) sentences.push_back("Fit: " + misfit_sentence(found, predictions, options) + ".");
  return sentences;
}

std::string report_text(const Identification& found, Predictions& predictions, const IdentifyOptions& options,
                        std::size_t width) {
  std::string text;
  if (!found.steps.empty())
    text = fmt::format("{}\n{}\n", table_of_trials(found, predictions, options, width),
                       table_of_rules(found, predictions, width));
  for (const std::string& sentence : findings(found, predictions, options)) text += sentence + "\n";
  return text;
}

std::string report_json(const Identification& found, Predictions& predictions, const IdentifyOptions& options,
                        const std::string& unknown) {
  Json json;
  json.object().field("schema_version", 1).field("unknown", unknown).field("fits", found.fits).key("trials").array();
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const IdentifyStep& step = found.steps[i];
    json.object().field("name", step.run.trial.name).field("description", step.run.trial.description);
    json.field("expected_bits", step.expected_bits).field("misfit", found.misfits[i]);
    add_figures(json, step, predictions);
    add_verdicts(json, step.verdicts, predictions);
    json.end();
  }
  json.end();
  add_verdicts(json, found.verdicts, predictions);
  json.key("values").array();
  for (const FoundValue& value : found.values) {
    json.object().field("key", value.key).field("value", value.value).field("low", value.low).field("high", value.high);
    json.field("unit", is_duration(value) ? "ns" : "ratio").field("is_at_edge", value.is_at_edge).end();
  }
  json.end().key("findings").array();
  for (const std::string& sentence : findings(found, predictions, options)) json.value(sentence);
  return json.end().end().text();
}

std::vector<DeviceLine> identified_lines(const Identification& found, const Predictions& predictions) {
  std::vector<DeviceLine> lines;
  if (!found.fits || found.steps.empty()) return lines;
  const std::vector<RuleVerdict> likely = standing(found.verdicts);
  const std::vector<Rule>& rules = predictions.rules();
  const Rule& rule = rules[found.best().rule];
  const std::string source = fmt::format("identified: {} trials", found.steps.size());
  const auto add = [&](const char* key, const std::optional<std::string>& value) {
    if (value) lines.push_back({key, *value, source});
  };
  add("sharing", agreed(likely, rules, &Rule::sharing));
  if (rule.sharing == Sharing::kTimeSliced && !rule.unknowns.empty())
    add("lone_slice", agreed(likely, rules, &Rule::lone_slice));
  if (rule.tells_graphics) add("graphics", agreed(likely, rules, &Rule::graphics));
  if (rule.sharing == Sharing::kConcurrent && !rule.unknowns.empty())
    add("spatial", agreed(likely, rules, &Rule::spatial));
  for (const FoundValue& value : found.values)
    lines.push_back({value.key, as_written(value), source, fmt::format("{} (95 %)", interval(value))});
  return lines;
}

}  // namespace corun::identification

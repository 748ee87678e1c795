#include "experiments/summary/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/results/row_writer.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/headlines.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::string baseline;              ///< policy; "" = the first of the results
  std::vector<std::string> metrics;  ///< empty = the main ones; "all" = every one
  std::string markdown, csv, json;   ///< files to write; "" = none
  bool overwrite = false;
};

/// Of the metrics that are named; of the main ones where none is, or of all where there are no main ones.
Comparisons comparisons(const CompareOptions& options) {
  CompareChoice choice{options.baseline, options.metrics};
  if (options.metrics == std::vector<std::string>{"all"}) choice.metrics.clear();
  if (options.metrics.empty()) choice.preferred.assign(std::begin(headlines::kCompare), std::end(headlines::kCompare));
  return compare(options.files, choice);
}

/// Those of the throughputs, or of the metrics asked for.
std::vector<std::string> sentences(const Comparisons& found, const CompareOptions& options) {
  return sentences(found,
                   [&](const Comparison& row) { return !options.metrics.empty() || row.metric == "throughput_per_s"; });
}

Cell bound(const Estimate& estimate, double value) {
  return !has_interval(estimate) || !std::isfinite(value) ? Cell{} : Cell{value};
}

Cell end_of(const std::optional<FigureBand>& band, double FigureBand::*end) {
  return band ? Cell{(*band).*end} : Cell{};
}

/// What stands in front of the columns of a sweep: the number of the point, and the values of the parameters there.
std::vector<std::string> point_headings(const Comparisons& found) {
  if (found.points.empty()) return {};
  std::vector<std::string> headings = {"point"};
  std::ranges::copy(found.points.parameters, std::back_inserter(headings));
  return headings;
}

std::vector<Cell> point_cells(const Comparisons& found, const Comparison& row) {
  if (found.points.empty()) return {};
  if (!row.point) return std::vector<Cell>(1 + found.points.parameters.size());
  std::vector<Cell> cells = {static_cast<std::int64_t>(*row.point)};
  std::ranges::copy(found.points.values[*row.point], std::back_inserter(cells));
  return cells;
}

template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

std::string as_csv(const Comparisons& found) {
  std::string text;
  const auto writer = make_row_writer(RowFormat::kCsv, joined(point_headings(found), {"scenario",
                                                                                      "backend",
                                                                                      "policy",
                                                                                      "client",
                                                                                      "metric",
                                                                                      "unit",
                                                                                      "baseline_policy",
                                                                                      "baseline",
                                                                                      "value",
                                                                                      "difference",
                                                                                      "difference_lo",
                                                                                      "difference_hi",
                                                                                      "ratio",
                                                                                      "ratio_lo",
                                                                                      "ratio_hi",
                                                                                      "n",
                                                                                      "revisions",
                                                                                      "baseline_band_lo",
                                                                                      "baseline_band_hi",
                                                                                      "value_band_lo",
                                                                                      "value_band_hi"}),
                                      [&](std::string_view part) { text += part; });
  for (const Comparison& row : found.rows)
    writer->row(joined(point_cells(found, row), {row.scenario,
                                                 row.backend,
                                                 row.policy,
                                                 row.client,
                                                 row.metric,
                                                 row.unit,
                                                 found.baseline,
                                                 row.baseline.mean,
                                                 row.value.mean,
                                                 row.difference.mean,
                                                 bound(row.difference, row.difference.low),
                                                 bound(row.difference, row.difference.high),
                                                 row.ratio.mean,
                                                 bound(row.ratio, row.ratio.low),
                                                 bound(row.ratio, row.ratio.high),
                                                 static_cast<std::int64_t>(row.pairs()),
                                                 fmt::format("{}", fmt::join(row.revisions, " ")),
                                                 end_of(row.baseline_band, &FigureBand::low),
                                                 end_of(row.baseline_band, &FigureBand::high),
                                                 end_of(row.value_band, &FigureBand::low),
                                                 end_of(row.value_band, &FigureBand::high)}));
  writer->end();
  return text;
}

void add_estimate(Json& json, std::string_view name, const Estimate& estimate, bool has_interval,
                  const std::optional<FigureBand>& band = {}) {
  json.key(name).object().field("mean", estimate.mean);
  json.field("low", has_interval ? estimate.low : NAN).field("high", has_interval ? estimate.high : NAN);
  if (band) json.field("band_low", band->low).field("band_high", band->high);
  json.end();
}

void add_points(Json& json, const SweptPoints& points) {
  json.key("points").array();
  for (const std::vector<std::string>& values : points.values) {
    json.object();
    for (std::size_t i = 0; i < values.size(); ++i) json.field(points.parameters[i], values[i]);
    json.end();
  }
  json.end();
}

std::string as_json(const Comparisons& found, const CompareOptions& options) {
  Json json;
  json.object().field("schema_version", 1).field("baseline", found.baseline).key("comparisons").array();
  for (const Comparison& row : found.rows) {
    json.object().field("scenario", row.scenario).field("backend", row.backend).field("policy", row.policy);
    if (row.point) json.field("point", *row.point);
    json.field("client", row.client).field("metric", row.metric).field("unit", row.unit).field("pairs", row.pairs());
    add_estimate(json, "baseline", row.baseline, has_interval(row.baseline), row.baseline_band);
    add_estimate(json, "value", row.value, has_interval(row.value), row.value_band);
    add_estimate(json, "difference", row.difference, has_interval(row.difference));
    add_estimate(json, "ratio", row.ratio, has_interval(row.ratio));
    if (!row.revisions.empty()) {
      json.key("revisions").array();
      for (const std::string& revision : row.revisions) json.value(revision);
      json.end();
    }
    json.end();
  }
  json.end();
  if (!found.points.empty()) add_points(json, found.points);
  json.key("sentences").array();
  for (const std::string& text : sentences(found, options)) json.value(text);
  json.end().key("warnings").array();
  for (const std::string& text : found.warnings) json.value(text);
  json.end().end();
  return json.text() + "\n";
}

std::string times(const Estimate& ratio) {
  if (!std::isfinite(ratio.mean)) return "";
  if (!has_interval(ratio) || !std::isfinite(ratio.low)) return fmt::format("{:.3f}", ratio.mean);
  return fmt::format("{:.3f} [{:.3f},{:.3f}]", ratio.mean, ratio.low, ratio.high);
}

std::string banded(const Estimate& estimate, const std::string& metric, const std::optional<FigureBand>& band) {
  const std::string text = figure(estimate, metric, false);
  return band ? fmt::format("{} {}", text, band_text(*band, metric, estimate.mean)) : text;
}

/// What stands in brackets, and that nothing does.
std::string about_bands(const Comparisons& found) {
  const auto is_simulated = [](const Comparison& row) { return row.backend == kSimulation; };
  if (!found.has_classes || std::ranges::none_of(found.rows, is_simulated)) return "";
  const auto has_band = [](const Comparison& row) { return row.baseline_band || row.value_band; };
  if (std::ranges::none_of(found.rows, has_band)) return "no bands: too few measured co-runs";
  return "in ( ): where 90 % of measured figures lie that were predicted so; without: too few measured "
         "co-runs";
}

Cell pairs_of(const Comparison& row) {
  if (row.revisions.empty()) return static_cast<std::int64_t>(row.pairs());
  return fmt::format("{}{}", row.pairs(), of_revisions(row));
}

/// The rows of one scenario and backend, which stand together.
std::string table(const Comparisons& found, std::vector<Comparison>::const_iterator begin,
                  std::vector<Comparison>::const_iterator end, RowFormat format, std::size_t width) {
  std::string text;
  const auto writer = make_row_writer(
      format,
      joined(joined({"client", "metric", "policy"}, point_headings(found)),
             {"value", found.baseline, "times", "difference", "pairs"}),
      [&](std::string_view part) { text += part; }, width);
  for (auto row = begin; row != end; ++row)
    writer->row(joined(
        joined({row->client, row->metric, row->policy}, point_cells(found, *row)),
        {banded(row->value, row->metric, row->value_band), banded(row->baseline, row->metric, row->baseline_band),
         times(row->ratio), figure(row->difference, row->metric, true), pairs_of(*row)}));
  writer->end();
  return text;
}

std::string tables(const Comparisons& found, RowFormat format, std::size_t width = kAnyWidth) {
  std::string text;
  for (auto begin = found.rows.begin(); begin != found.rows.end();) {
    const auto end = std::find_if(begin, found.rows.end(), [&](const Comparison& row) {
      return row.scenario != begin->scenario || row.backend != begin->backend;
    });
    const bool is_markdown = format == RowFormat::kMarkdown;
    const std::string heading =
        fmt::format("{} ({}), compared with {}: {}paired by seed, 95 % intervals", begin->scenario, begin->backend,
                    found.baseline, begin->point ? "point by point, " : "");
    text += is_markdown ? fmt::format("### {}\n\n", markdown_text(heading)) : printable(heading) + "\n";
    text += table(found, begin, end, format, width) + "\n";
    begin = end;
  }
  return text;
}

std::string as_markdown(const Comparisons& found, const CompareOptions& options) {
  std::string text = tables(found, RowFormat::kMarkdown);
  if (const std::string line = about_bands(found); !line.empty()) text += markdown_text(line) + "\n\n";
  for (const std::string& line : sentences(found, options)) text += fmt::format("- {}\n", markdown_text(line));
  for (const std::string& line : found.warnings) text += fmt::format("- warning: {}\n", markdown_text(line));
  return text;
}

void print_text(const CommonOptions& common, const Comparisons& found, const CompareOptions& options) {
  put_out(tables(found, RowFormat::kAligned, common.out.table_width()));
  if (const std::string line = about_bands(found); !line.empty()) print_out("{}\n\n", line);
  for (const std::string& line : sentences(found, options)) print_out("{}\n", printable(line));
  flush_out();
  for (const std::string& line : found.warnings)
    print_err("{}{}\n", common.err.has_color ? "\033[33mwarning:\033[0m " : "warning: ", printable(line));
}

int compare_command(const CommonOptions& common, const CompareOptions& options) {
  const Comparisons found = comparisons(options);
  if (!options.markdown.empty()) write_file(options.markdown, as_markdown(found, options), options.overwrite);
  if (!options.csv.empty()) write_file(options.csv, as_csv(found), options.overwrite);
  if (!options.json.empty()) write_file(options.json, as_json(found, options), options.overwrite);
  if (common.json) {
    put_out(as_json(found, options));
  } else {
    print_text(common, found, options);
  }
  return 0;
}

}  // namespace

void add_compare(Commands& commands) {
  auto [command, options] =
      commands.add("compare", "Compare each policy with a baseline, seed by seed", &compare_command);
  command.option("RESULTS", &options.files, "Results files (SQLite)").required();
  command.option("--baseline", &options.baseline, "Policy to compare with; the first one if not given");
  command.option("--metric", &options.metrics, "Metric to compare (repeatable); all for every one").repeatable();
  command.option("--export-markdown", &options.markdown, "Also write the tables as Markdown to FILE")
      .shows_value("FILE");
  command.option("--export-csv", &options.csv, "Also write every number as CSV to FILE").shows_value("FILE");
  command.option("--export-json", &options.json, "Also write what --json prints to FILE").shows_value("FILE");
  command.flag("-f,--force", &options.overwrite, "Replace existing files");
}

}  // namespace corun

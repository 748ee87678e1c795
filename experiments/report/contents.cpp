#include "experiments/report/contents.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "experiments/base/hash.h"
#include "experiments/base/json.h"
#include "experiments/base/terminal.h"
#include "experiments/question/expectation.h"
#include "experiments/report/frame_figures.h"
#include "experiments/report/kept.h"
#include "experiments/report/measured.h"
#include "experiments/report/palette.h"
#include "experiments/report/verdicts.h"
#include "experiments/summary/compare.h"
#include "experiments/summary/compare_settling.h"
#include "experiments/summary/conclusions.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/headlines.h"
#include "sim/metrics/metric_table.h"

namespace corun::report {

namespace {

constexpr std::size_t kMostWithAllMetrics = 60;  // settings; of more, the page gets only what it draws
constexpr std::size_t kMostCompared = 2000;      // settings of a sweep: some seconds

bool is_drawn(const std::string& metric) {
  return std::ranges::find(headlines::kDrawn, metric) != std::end(headlines::kDrawn);
}

double rounded(double value) { return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : value; }

/// "values": [setting, client, metric, mean, low, high, runs, text, band] each; the band is text, and often absent.
void add_values(const Scenario& scenario, Json& json) {
  const bool has_all = scenario.settings.size() <= kMostWithAllMetrics;
  json.key("values").array();
  for (const auto& [setting, figures] : scenario.figures)
    for (const auto& [key, figure] : figures) {
      const auto& [client, metric] = key;
      const bool is_of_cluster = client == "cluster";
      if (!has_all && !is_of_cluster && !is_drawn(metric)) continue;
      const Estimate value = *scenario.get(setting, client, metric);
      json.array().value(setting).value(client).value(metric).value(rounded(value.mean)).value(rounded(value.low));
      json.value(rounded(value.high)).value(value.count).value(corun::figure(value, metric, true));
      if (const auto band = scenario.band(setting, client, metric)) json.value(band_text(*band, metric, value.mean));
      json.end();
    }
  json.end();
}

bool has_band(const Scenario& scenario, std::size_t setting) {
  const auto is_banded = [&](const std::string& client) {
    return scenario.band(setting, client, "throughput_per_s") || scenario.band(setting, client, "fps_mean");
  };
  return std::ranges::any_of(scenario.clients, is_banded);
}

/// What stands in brackets in the table, and which settings have nothing there; "" of what was measured, of a client
/// alone, and of files that do not say.
std::string about_bands(const Measured& measured, const Scenario& scenario) {
  constexpr std::size_t kMostNamed = 12;
  const auto is_client = [](const std::string& name) { return name != "device" && name != "cluster"; };
  if (!measured.has_classes || scenario.backend != kSimulation) return "";
  if (std::ranges::count_if(scenario.clients, is_client) < 2) return "";
  std::vector<std::string> never;
  std::size_t banded = 0;
  for (std::size_t i = 0; i < scenario.settings.size(); ++i) {
    if (scenario.settings[i].runs.empty()) continue;
    if (has_band(scenario, i))
      ++banded;
    else
      never.push_back(scenario.settings[i].label);
  }
  if (banded == 0) return never.empty() ? "" : "No bands: too few measured co-runs.";
  std::string text = "In ( ): where 90 % of measured figures lie that were predicted so.";
  if (never.size() > kMostNamed) return text + " Without: too few measured co-runs.";
  if (!never.empty()) text += fmt::format(" Too few measured co-runs for a band: {}.", fmt::join(never, ", "));
  return text;
}

void add_settings(const Scenario& scenario, Json& json) {
  std::vector<std::string> labels;
  for (const Setting& setting : scenario.settings) labels.push_back(setting.label);
  const std::vector<std::size_t> its_looks = looks(labels);
  json.key("settings").array();
  for (std::size_t i = 0; i < scenario.settings.size(); ++i) {
    const Setting& setting = scenario.settings[i];
    json.object().field("label", setting.label).field("policy", setting.policy).field("look", its_looks[i]);
    json.field("basis", to_string(scenario.basis(i)));
    json.field("parameters", setting.parameters).field("runs", setting.runs.size()).field("failed", setting.failed);
    json.field("error", setting.first_error).field("events", setting.events).field("wall_s", rounded(setting.wall_s));
    json.key("swept").object();
    for (const auto& [parameter, number] : setting.swept) json.field(parameter, number);
    json.end().end();
  }
  json.end();
}

bool is_turned_away(const Scenario& scenario, std::size_t setting, const std::string& client) {
  return scenario.mean(setting, client, "refused") == 1 && !(scenario.mean(setting, client, "throughput_per_s") > 0);
}

/// What the closing table of a run says in words.
std::vector<std::string> sentences(const Scenario& scenario) {
  std::vector<PolicyMeans> policies;
  bool has_quality = false;
  for (std::size_t i = 0; i < scenario.settings.size(); ++i)
    for (const std::string& client : scenario.clients)
      has_quality = has_quality || scenario.mean(i, client, "quality_mean") < 1;
  for (std::size_t i = 0; i < scenario.settings.size(); ++i) {
    if (scenario.settings[i].runs.empty()) continue;
    PolicyMeans means{scenario.settings[i].label, scenario.mean(i, "device", "harvest_ratio"), {}};
    for (const std::string& client : scenario.clients) {
      if (client == "device" || is_turned_away(scenario, i, client)) continue;
      if (client == "cluster") return {};
      const auto at = [&](const char* metric) { return scenario.mean(i, client, metric); };
      if (std::isnan(at("solo_throughput_per_s"))) return {};  // nothing to compare with
      means.clients.push_back({client, at("fps_mean"), at("throughput_per_s"), at("solo_throughput_per_s"),
                               has_quality ? at("quality_mean") : std::nan("")});
    }
    policies.push_back(std::move(means));
  }
  return conclusions(std::move(policies));
}

void add_texts(const char* name, const std::vector<std::string>& texts, Json& json) {
  json.key(name).array();
  for (const std::string& text : texts) json.value(text);
  json.end();
}

/// What was assumed; of runs of several results revisions first a warning that names those of each.
std::vector<std::string> notes_of(const Measured& measured, const Scenario& scenario) {
  std::map<std::string, std::vector<std::string>> settings;
  for (const Setting& setting : scenario.settings) {
    std::set<std::string> revisions;
    for (const Run& run : setting.runs) revisions.insert(measured.revisions[run.file]);
    for (const std::string& revision : revisions) settings[revision].push_back(setting.label);
  }
  std::vector<std::string> notes = scenario.notes;
  if (settings.size() < 2) return notes;
  std::vector<std::string> parts;
  for (const auto& [revision, labels] : settings)
    parts.push_back(fmt::format("{} of revision {}", fmt::join(labels, ", "), revision));
  notes.insert(notes.begin(), fmt::format("warning: its runs are of several results revisions, whose numbers differ "
                                          "for that alone: {}",
                                          fmt::join(parts, "; ")));
  return notes;
}

std::string seeds_of(const Scenario& scenario) {
  std::set<std::int64_t> seeds;
  for (const Setting& setting : scenario.settings)
    for (const Run& run : setting.runs) seeds.insert(run.seed);
  return packed({seeds.begin(), seeds.end()});
}

void add_scenario(const Measured& measured, const Scenario& scenario, Json& json) {
  json.object().field("name", scenario.name).field("backend", scenario.backend).field("device", scenario.device);
  json.field("traces", scenario.trace_hashes).field("seeds", seeds_of(scenario));
  const auto ran = std::ranges::find_if(scenario.settings, [](const Setting& s) { return !s.runs.empty(); });
  const bool has_run = ran != scenario.settings.end();
  json.field("horizon_ms", has_run ? static_cast<double>(ran->runs[0].horizon_ns) / 1e6 : NAN);
  json.field("warmup_ms", has_run ? static_cast<double>(ran->runs[0].warmup_ns) / 1e6 : NAN);
  json.field("detailed", std::min(scenario.settings.size(), kMostDetailed));
  add_texts("clients", scenario.clients, json);
  add_texts("notes", notes_of(measured, scenario), json);
  add_settings(scenario, json);
  add_values(scenario, json);
  add_kept(scenario, json);
  json.field("bands", about_bands(measured, scenario));
  json.key("verdicts").array();
  for (const Verdict& verdict : verdicts(measured, scenario))
    json.object().field("text", verdict.text).field("holds", verdict.holds).field("decides", verdict.decides).end();
  json.end();
  add_texts("sentences", measured.is_sweep ? std::vector<std::string>{} : sentences(scenario), json);
  add_frame_figures(measured, scenario, json);
  add_decisions(measured, scenario, json);
  json.end();
}

bool is_measured(const Measured& measured, const std::string& metric) {
  for (const Scenario& scenario : measured.scenarios)
    for (const auto& [setting, figures] : scenario.figures)
      for (const auto& [key, figure] : figures)
        if (key.second == metric) return true;
  return false;
}

/// Sweeps of different points are not compared, and of very many points it takes longer than the rest of the page.
bool can_compare(const std::vector<std::string>& files, const Measured& measured) {
  if (!measured.is_sweep) return true;
  std::size_t settings = 0;
  for (const Scenario& scenario : measured.scenarios) settings += scenario.settings.size();
  return files.size() == 1 && settings <= kMostCompared;
}

void add_effects(const std::vector<std::string>& files, const Measured& measured, const ReportChoice& choice,
                 Json& json) {
  json.key("effects").array();
  std::string baseline;
  const bool has_jobs = is_measured(measured, "throughput_per_s");
  if (has_jobs && can_compare(files, measured)) {
    std::vector<std::string> metrics = {"throughput_per_s"};
    if (is_measured(measured, "frame_time_p99_ms")) metrics.emplace_back("frame_time_p99_ms");
    const Comparisons found = compare(files, {choice.baseline, metrics});
    baseline = found.baseline;
    for (const Scenario& scenario : measured.scenarios)
      for (const std::string& text : corun::sentences(found, [&](const Comparison& row) {
             return row.scenario == scenario.name && row.backend == scenario.backend;
           }))
        json.object().field("scenario", scenario.name).field("backend", scenario.backend).field("text", text).end();
  }
  json.end().field("baseline", baseline);
}

void add_experiments(const Measured& measured, Json& json) {
  json.key("experiments").array();
  for (const auto& database : measured.databases) {
    if (!has_table(*database, "experiments")) continue;
    SQLite::Statement row(*database, "SELECT name, description, file, changes, text, sha256 FROM experiments");
    while (row.executeStep()) {
      json.object();
      for (const char* field : {"name", "description", "file", "changes", "text", "sha256"})
        json.field(field, row.getColumn(field).getString());
      const char* command = measured.is_sweep ? "simcli sweep " : "simcli run ";
      std::string again = command + shell_quoted(row.getColumn("file").getString());
      if (const std::string changes = row.getColumn("changes").getString(); !changes.empty()) again += " " + changes;
      json.field("again", again).end();
    }
  }
  json.end();
}

void add_files(const Measured& measured, Json& json) {
  json.key("files").array();
  for (std::size_t i = 0; i < measured.files.size(); ++i) {
    SQLite::Statement name(*measured.databases[i], "SELECT DISTINCT experiment FROM runs ORDER BY experiment");
    json.object().field("name", std::filesystem::path(measured.files[i]).filename().string());
    json.field("hash", file_hash(measured.files[i])).key("experiments").array();
    while (name.executeStep()) json.value(name.getColumn(0).getString());
    json.end().end();
  }
  json.end();
}

/// Rows of the validation, where the files hold one: [place, metric, predicted, its interval, measured, its interval,
/// verdict].
void add_validation(const Measured& measured, Json& json) {
  json.key("validation").array();
  for (const auto& database : measured.databases) {
    if (!has_table(*database, "validation")) continue;
    SQLite::Statement row(
        *database,
        "SELECT scenario, policy, client, metric, predicted, predicted_low, predicted_high, measured, "
        "measured_low, measured_high, verdict FROM validation WHERE predicted IS NOT NULL AND "
        "measured IS NOT NULL ORDER BY rowid");
    while (row.executeStep()) {
      json.array();
      for (int i = 0; i < 4; ++i) json.value(row.getColumn(i).getString());
      for (int i = 4; i < 10; ++i) json.value(row.getColumn(i).isNull() ? NAN : rounded(row.getColumn(i).getDouble()));
      json.value(row.getColumn(10).getString()).end();
    }
  }
  json.end();
}

void add_metrics(const Measured& measured, Json& json) {
  std::set<std::string> used;
  for (const Scenario& scenario : measured.scenarios)
    for (const auto& [setting, figures] : scenario.figures)
      for (const auto& [key, figure] : figures) used.insert(key.second);
  json.key("metrics").object();
  for (const std::string& name : used)
    if (const MetricDescriptor* metric = find_metric(name)) json.field(name, metric->meaning);
  json.end();
}

/// Of the table of results, behind the rate.
void add_columns(Json& json) {
  json.key("columns").array();
  for (const std::string_view name : headlines::kReport) {
    const MetricDescriptor& metric = metric_named(name);
    json.object().field("name", metric.heading).field("metric", name).field("of", to_string(metric.owner));
    json.field("better", to_string(metric.better)).end();
  }
  json.end();
}

std::vector<std::string> warnings(const Measured& measured) {
  std::vector<std::string> all;
  for (const Scenario& scenario : measured.scenarios)
    for (const Setting& setting : scenario.settings)
      if (setting.failed > 0)
        all.push_back(fmt::format("{}, {}: {} of {} runs failed and are left out: {}", scenario.name, setting.label,
                                  setting.failed, setting.failed + setting.runs.size(), setting.first_error));
  if (!measured.is_sweep)
    for (const auto& database : measured.databases)
      for (std::string& text : horizon_warnings(*database))
        if (std::ranges::count(all, text) == 0) all.push_back(std::move(text));
  return all;
}

}  // namespace

std::string contents(const std::vector<std::string>& files, const ReportChoice& choice) {
  const Measured measured = read_measured(files);
  Json json(JsonLayout::kCompact);
  json.object().field("schema_version", 1).field("command", choice.command).field("is_sweep", measured.is_sweep);
  json.key("swept_units").object();
  for (const auto& [parameter, unit] : measured.swept_units) json.field(parameter, unit);
  json.end();
  json.field("colours", colours().size()).key("client_looks").array();
  for (const std::size_t look : client_looks()) json.value(look);
  json.end();
  add_files(measured, json);
  add_texts("versions", measured.versions, json);
  add_experiments(measured, json);
  add_metrics(measured, json);
  add_columns(json);
  add_texts("warnings", warnings(measured), json);
  add_effects(files, measured, choice, json);
  json.key("probabilities").array();
  for (const double p : probabilities()) json.value(rounded(p));
  json.end().key("scenarios").array();
  for (const Scenario& scenario : measured.scenarios) add_scenario(measured, scenario, json);
  json.end();
  add_validation(measured, json);
  return json.end().text();
}

}  // namespace corun::report

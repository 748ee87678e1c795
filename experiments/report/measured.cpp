#include "experiments/report/measured.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/results/cells.h"
#include "experiments/results/error_classes.h"
#include "experiments/results/file.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/error.h"

namespace corun::report {

namespace {

bool has_column(SQLite::Database& results, const std::string& table, const std::string& column) {
  return std::ranges::count(columns_of(results, table), column) > 0;
}

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

/// What the sweep of a file varied.
struct Swept {
  std::map<std::string, std::set<std::int64_t>> points_of_run;
  std::map<std::int64_t, std::map<std::string, std::string>> texts;
  std::map<std::int64_t, std::map<std::string, double>> numbers;
  std::map<std::string, std::string> units;
};

Swept read_swept(SQLite::Database& results) {
  Swept swept;
  if (!has_table(results, "points") || !has_table(results, "planned_runs")) return swept;
  SQLite::Statement planned(results, "SELECT run, point FROM planned_runs WHERE point IS NOT NULL ORDER BY position");
  while (planned.executeStep()) swept.points_of_run[planned.getColumn(0)].insert(planned.getColumn(1).getInt64());
  SQLite::Statement point(results, "SELECT point, parameter, value, number, unit FROM points ORDER BY rowid");
  while (point.executeStep()) {
    const std::int64_t number = point.getColumn(0);
    swept.texts[number][point.getColumn(1)] = point.getColumn(2).getString();
    swept.units[point.getColumn(1)] = point.getColumn(4).getString();
    if (!point.getColumn(3).isNull()) swept.numbers[number][point.getColumn(1)] = point.getColumn(3).getDouble();
  }
  return swept;
}

/// What all of `points` agree on.
template <class Value>
std::map<std::string, Value> in_common(const std::map<std::int64_t, std::map<std::string, Value>>& values,
                                       const std::set<std::int64_t>& points) {
  std::map<std::string, Value> common;
  bool is_first = true;
  for (const std::int64_t point : points) {
    const auto its = values.find(point);
    if (its == values.end()) return {};
    if (std::exchange(is_first, false)) common = its->second;
    std::erase_if(common, [&](const auto& entry) {
      const auto same = its->second.find(entry.first);
      return same == its->second.end() || same->second != entry.second;
    });
  }
  return common;
}

/// "nvshare.quantum" is called `quantum` behind the policy's name.
std::string_view without_policy(std::string_view parameter, std::string_view policy) {
  const bool is_of_policy = parameter.starts_with(policy) && parameter.substr(policy.size()).starts_with('.');
  return is_of_policy ? parameter.substr(policy.size() + 1) : parameter;
}

class Reader {
 public:
  Measured read(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      out_.files.push_back(file);
      out_.databases.push_back(open_results(file));
      try {
        read_file(*out_.databases.back());
      } catch (const SQLite::Exception& failure) {
        throw_input({file}, "reading the results: {}", reason(failure));
      }
    }
    if (out_.scenarios.empty()) throw_input({files.front()}, "there are no runs to report");
    return std::move(out_);
  }

 private:
  struct Place {
    std::size_t scenario, setting;
  };

  void read_file(SQLite::Database& results) {
    out_.revisions.push_back(results_revision(results));
    const StoredErrorClasses classes(results);
    out_.has_classes = out_.has_classes && classes.are_known();
    const Swept swept = read_swept(results);
    out_.is_sweep = out_.is_sweep || !swept.texts.empty();
    out_.swept_units.insert(swept.units.begin(), swept.units.end());
    const std::map<std::string, Place> places = read_runs(results, swept, classes, StoredMechanisms(results));
    read_metrics(results, places);
  }

  std::map<std::string, Place> read_runs(SQLite::Database& results, const Swept& swept,
                                         const StoredErrorClasses& classes, const StoredMechanisms& mechanisms) {
    const auto or_else = [&](const char* column, const char* value) {
      return has_column(results, "runs", column) ? std::string(column) : std::string(value);
    };
    SQLite::Statement row(
        results, fmt::format("SELECT id, scenario, {}, policy, {}, seed, {}, {}, horizon_ns, {}, wall_time_s, events, "
                             "error, {}, {}, {} FROM runs ORDER BY rowid",
                             or_else("backend", "'simulation'"), or_else("parameters", "''"), or_else("device", "''"),
                             or_else("trace_hashes", "''"), or_else("warmup_ns", "0"), or_else("notes", "''"),
                             or_else("holds_until_ns", "NULL"), or_else("engine_version", "''")));
    std::map<std::string, Place> places;
    while (row.executeStep()) {
      const std::string id = row.getColumn(0);
      if (!seen_.insert(id).second) continue;
      const Place place = place_of(row, swept, id);
      add_run(row, place, id);
      Setting& setting = out_.scenarios[place.scenario].settings[place.setting];
      setting.classes.merge(classes.of(id));
      if (setting.mechanism.mechanism.empty()) setting.mechanism = mechanisms.of(id);
      if (row.getColumn(12).isNull()) places.emplace(id, place);
    }
    return places;
  }

  Place place_of(SQLite::Statement& row, const Swept& swept, const std::string& id) {
    const std::string scenario = row.getColumn(1), backend = row.getColumn(2), policy = row.getColumn(3);
    const auto points = swept.points_of_run.find(id);
    std::string label = policy;
    std::map<std::string, double> numbers;
    if (points != swept.points_of_run.end()) {
      const auto texts = in_common(swept.texts, points->second);
      numbers = in_common(swept.numbers, points->second);
      std::vector<std::string> parts;
      for (const auto& [parameter, value] : texts)
        parts.push_back(fmt::format("{}={}", without_policy(parameter, policy), value));
      if (!parts.empty()) label += fmt::format(" ({})", fmt::join(parts, ", "));
    }
    const std::size_t at = scenario_of(scenario, backend, row.getColumn(6), row.getColumn(7));
    const auto [found, is_new] = setting_of_.try_emplace({at, label}, out_.scenarios[at].settings.size());
    if (is_new) {
      Setting setting;
      setting.policy = policy, setting.label = label, setting.swept = std::move(numbers);
      setting.parameters = row.getColumn(4).getString();
      out_.scenarios[at].settings.push_back(std::move(setting));
    }
    return {at, found->second};
  }

  std::size_t scenario_of(const std::string& name, const std::string& backend, const std::string& device,
                          const std::string& hashes) {
    const auto [found, is_new] = scenario_of_.try_emplace({name, backend}, out_.scenarios.size());
    if (is_new) {
      Scenario scenario;
      scenario.name = name, scenario.backend = backend, scenario.device = device, scenario.trace_hashes = hashes;
      out_.scenarios.push_back(std::move(scenario));
    }
    return found->second;
  }

  void add_run(SQLite::Statement& row, const Place& place, const std::string& id) {
    Scenario& scenario = out_.scenarios[place.scenario];
    Setting& setting = scenario.settings[place.setting];
    add_once(out_.versions, row.getColumn(15).getString());
    if (!row.getColumn(12).isNull()) {
      if (setting.failed++ == 0) setting.first_error = row.getColumn(12).getString();
      return;
    }
    Run run{id, row.getColumn(5), instant_at(row, 9), instant_at(row, 8), std::nullopt, out_.files.size() - 1};
    if (!row.getColumn(14).isNull()) run.recorded_until_ns = instant_at(row, 14);
    setting.runs.push_back(std::move(run));
    setting.wall_s += number_at(row, 10);
    setting.events += static_cast<std::uint64_t>(row.getColumn(11).getInt64());
    const std::string notes = row.getColumn(13);
    for (std::size_t begin = 0; begin < notes.size();) {
      const std::size_t end = std::min(notes.find('\n', begin), notes.size());
      if (end > begin) add_once(scenario.notes, notes.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  void read_metrics(SQLite::Database& results, const std::map<std::string, Place>& places) {
    SQLite::Statement row(results, "SELECT run, client, metric, unit, value FROM metrics ORDER BY rowid");
    while (row.executeStep()) {
      const auto place = places.find(row.getColumn(0));
      if (place == places.end() || row.getColumn(4).isNull()) continue;
      const double value = number_at(row, 4);
      if (!std::isfinite(value)) continue;
      Scenario& scenario = out_.scenarios[place->second.scenario];
      const std::string client = row.getColumn(1);
      if (clients_.emplace(place->second.scenario, client).second) scenario.clients.push_back(client);
      Figure& figure = scenario.figures[place->second.setting][{client, row.getColumn(2)}];
      figure.unit = row.getColumn(3).getString();
      figure.values.push_back(value);
    }
  }

  Measured out_;
  std::set<std::string> seen_;
  std::set<std::pair<std::size_t, std::string>> clients_;  // of scenarios
  std::map<std::pair<std::string, std::string>, std::size_t> scenario_of_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> setting_of_;
};

}  // namespace

bool has_table(SQLite::Database& results, const std::string& table) { return !columns_of(results, table).empty(); }

std::optional<Estimate> Scenario::get(std::size_t setting, const std::string& client, const std::string& metric) const {
  const auto its = figures.find(setting);
  if (its == figures.end()) return std::nullopt;
  const auto found = its->second.find({client, metric});
  if (found == its->second.end()) return std::nullopt;
  std::vector<double> values = found->second.values;
  if (counts_from_zero(metric)) values.resize(std::max(values.size(), settings[setting].runs.size()), 0.0);
  return figure_estimate(values);
}

std::optional<FigureBand> Scenario::band(std::size_t setting, const std::string& client,
                                         const std::string& metric) const {
  const Setting& its = settings[setting];
  return figure_band(Bands::built_in(),
                     {its.classes, its.policy, notes,
                      [&](const std::string& of, std::string_view wanted) -> std::optional<double> {
                        const auto found = get(setting, of, std::string(wanted));
                        return found ? std::optional(found->mean) : std::nullopt;
                      }},
                     client, metric);
}

Basis Scenario::basis(std::size_t setting) const {
  const auto has_frames = [&](const std::string& client) { return get(setting, client, "fps_mean").has_value(); };
  return basis_of(ComparedMechanisms::built_in(), settings[setting].mechanism,
                  std::ranges::any_of(clients, has_frames));
}

double Scenario::mean(std::size_t setting, const std::string& client, const std::string& metric) const {
  const auto found = get(setting, client, metric);
  return found ? found->mean : std::nan("");
}

Measured read_measured(const std::vector<std::string>& files) { return Reader().read(files); }

}  // namespace corun::report

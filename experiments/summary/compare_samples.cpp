#include "experiments/summary/compare_samples.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>

#include "experiments/results/cells.h"
#include "experiments/results/error_classes.h"
#include "experiments/results/file.h"
#include "experiments/summary/compare_settling.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/error.h"

namespace corun {

namespace {

// Runs without metrics, which failed, come last.
constexpr char kRuns[] =
    "SELECT id, scenario, backend, policy, seed, error, {} FROM runs "
    "LEFT JOIN (SELECT run, min(rowid) AS first FROM metrics GROUP BY run) ON run = id ORDER BY first IS NULL, first";

bool holds_points(SQLite::Database& results) {
  return !columns_of(results, "points").empty() && !columns_of(results, "planned_runs").empty();
}

[[noreturn]] void refuse_points(const std::string& file, std::string what) {
  throw Error(ErrorKind::kInput, {file}, std::move(what),
              "the points of a sweep are 0, 1, 2 and so on, each with all parameters: run or merge it again");
}

SweptPoints read_points(SQLite::Database& results, const std::string& file) {
  SweptPoints points;
  if (!holds_points(results)) return points;
  SQLite::Statement row(results, "SELECT point, parameter, value FROM points ORDER BY rowid");
  while (row.executeStep()) {
    const std::int64_t point = row.getColumn(0).getInt64(), next = std::ssize(points.values);
    const bool is_in_order = point == next || (next > 0 && point == next - 1);
    if (!is_in_order) refuse_points(file, fmt::format("point {} stands where point {} is to come", point, next));
    if (point == next) points.values.emplace_back();
    if (point == 0) points.parameters.push_back(row.getColumn(1));
    points.values.back().push_back(row.getColumn(2));
  }
  for (std::size_t i = 0; i < points.values.size(); ++i)
    if (points.values[i].size() != points.parameters.size())
      refuse_points(file, fmt::format("point {} has {} values of {} parameters", i, points.values[i].size(),
                                      points.parameters.size()));
  return points;
}

/// The points of every run; of results that are no sweep, none.
std::map<std::string, std::vector<std::size_t>> points_of_runs(SQLite::Database& results, std::size_t count,
                                                               const std::string& file) {
  std::map<std::string, std::vector<std::size_t>> points;
  if (!holds_points(results)) return points;
  SQLite::Statement row(results, "SELECT DISTINCT run, point FROM planned_runs WHERE point IS NOT NULL ORDER BY point");
  while (row.executeStep()) {
    const auto point = static_cast<std::size_t>(row.getColumn(1).getInt64());
    if (point >= count)
      refuse_points(file, fmt::format("a run is of point {}, and there are {}", row.getColumn(1).getInt64(), count));
    points[row.getColumn(0)].push_back(point);
  }
  return points;
}

/// A run in one group.
struct Place {
  std::size_t group;
  std::int64_t seed;
};
using Places = std::map<std::string, std::vector<Place>>;  // by run

class Reader {
 public:
  Reader(std::string backend, bool has_warnings) : backend_(std::move(backend)), has_warnings_(has_warnings) {}

  void read(const std::string& file) {
    const auto results = open_results(file);
    try {
      revision_ = results_revision(*results);
      classes_.emplace(*results);
      out_.has_classes = out_.has_classes && classes_->are_known();
      take_points(read_points(*results, file), file);
      const Places groups = read_runs(*results, file);
      read_metrics(*results, groups);
      if (has_warnings_)
        for (std::string& text : horizon_warnings(*results)) add_once(std::move(text));
    } catch (const SQLite::Exception& failure) {
      throw_input({file}, "reading the results: {}", reason(failure));
    }
  }

  ResultSamples take() {
    for (Sample& sample : out_.samples) {
      if (!counts_from_zero(sample.metric)) continue;
      for (const auto& [seed, id] : out_.groups[sample.group].runs)
        if (std::ranges::find(sample.values, seed, &SeedValues::value_type::first) == sample.values.end())
          sample.values.emplace_back(seed, 0.0);
    }
    return std::move(out_);
  }

 private:
  void take_points(SweptPoints points, const std::string& file) {
    if (points.empty()) return;
    if (out_.points.empty())
      out_.points = std::move(points);
    else if (points.parameters != out_.points.parameters || points.values != out_.points.values)
      throw Error(ErrorKind::kInput, {file}, "these are other points than those of the sweep before",
                  "compare one sweep at a time, or its shards");
  }

  /// Where every run of the file belongs that is new and went well.
  Places read_runs(SQLite::Database& results, const std::string& file) {
    Places fresh;
    const auto points_of = points_of_runs(results, out_.points.values.size(), file);
    const std::vector<std::string> columns = columns_of(results, "runs");
    const bool has_notes = std::ranges::find(columns, "notes") != columns.end();
    SQLite::Statement row(results, fmt::format(kRuns, has_notes ? "notes" : "''"));
    while (row.executeStep()) {
      const std::string id = row.getColumn(0);
      const bool is_wanted = backend_.empty() || row.getColumn(2).getString() == backend_;
      if (!is_wanted || !seen_.insert(id).second) continue;
      const auto points = points_of.find(id);
      if (points == points_of.end())
        add_run(row, std::nullopt, fresh, file);
      else
        for (const std::size_t point : points->second) add_run(row, point, fresh, file);
    }
    return fresh;
  }

  void add_run(SQLite::Statement& row, std::optional<std::size_t> point, Places& fresh, const std::string& file) {
    const std::string id = row.getColumn(0);
    const std::size_t index = group(row.getColumn(1), row.getColumn(2), row.getColumn(3), point);
    PolicyRuns& runs = out_.groups[index];
    if (!row.getColumn(5).isNull()) {
      if (runs.failed++ == 0) runs.first_error = row.getColumn(5).getString();
      return;
    }
    const std::int64_t seed = row.getColumn(4);
    if (const auto [other, is_new] = runs.runs.emplace(seed, id); !is_new)
      throw Error(ErrorKind::kInput, {file},
                  fmt::format("runs {} and {} are both of scenario `{}`, policy `{}` and seed {}, and not the same",
                              other->second.substr(0, 12), id.substr(0, 12), runs.scenario, runs.policy, seed),
                  "compare results of one experiment, or tell policies apart with `as: another-name`");
    runs.revisions.insert(revision_);
    if (runs.runs.size() == 1) runs.classes = classes_->of(id);
    add_notes(row.getColumn(6), runs.notes);
    fresh[id].push_back({index, seed});
  }

  static void add_notes(const std::string& text, std::vector<std::string>& notes) {
    for (const auto part : std::views::split(text, '\n'))
      if (std::string note(part.begin(), part.end()); !note.empty() && std::ranges::count(notes, note) == 0)
        notes.push_back(std::move(note));
  }

  std::size_t group(const std::string& scenario, const std::string& backend, const std::string& policy,
                    std::optional<std::size_t> point) {
    const auto [at, is_new] = group_of_.try_emplace({scenario, backend, policy, point}, out_.groups.size());
    if (is_new) out_.groups.push_back({scenario, backend, policy, point, {}, {}, 0, ""});
    return at->second;
  }

  void read_metrics(SQLite::Database& results, const Places& places) {
    SQLite::Statement row(results, "SELECT run, client, metric, unit, value FROM metrics ORDER BY rowid");
    while (row.executeStep()) {
      const auto run = places.find(row.getColumn(0));
      if (run == places.end() || row.getColumn(4).isNull()) continue;
      const double value = number_at(row, 4);
      if (!std::isfinite(value)) continue;
      for (const auto& [group, seed] : run->second)
        sample(group, row.getColumn(1), row.getColumn(2), row.getColumn(3)).values.emplace_back(seed, value);
    }
  }

  Sample& sample(std::size_t group, const std::string& client, const std::string& metric, const std::string& unit) {
    const auto [at, is_new] = out_.places.try_emplace({group, client, metric}, out_.samples.size());
    if (is_new) out_.samples.push_back({group, client, metric, unit, {}});
    return out_.samples[at->second];
  }

  void add_once(std::string text) {
    if (std::ranges::find(out_.warnings, text) == out_.warnings.end()) out_.warnings.push_back(std::move(text));
  }

  const std::string backend_;
  const bool has_warnings_;
  std::string revision_;  ///< of the file that is read
  std::optional<StoredErrorClasses> classes_;
  ResultSamples out_;
  std::set<std::string> seen_;
  std::map<std::tuple<std::string, std::string, std::string, std::optional<std::size_t>>, std::size_t> group_of_;
};

}  // namespace

std::optional<FigureBand> ResultSamples::band(const Sample& sample) const {
  const PolicyRuns& runs = groups[sample.group];
  const auto mean = [&](const std::string& client, std::string_view metric) -> std::optional<double> {
    const auto found = places.find({sample.group, client, std::string(metric)});
    if (found == places.end() || samples[found->second].values.empty()) return std::nullopt;
    const SeedValues& values = samples[found->second].values;
    double sum = 0;
    for (const auto& [seed, value] : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  return figure_band(Bands::built_in(), {runs.classes, runs.policy, runs.notes, mean}, sample.client, sample.metric);
}

std::string SweptPoints::text(std::size_t point) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.at(point).size(); ++i)
    parts.push_back(fmt::format("{} {}", parameters[i], values[point][i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

ResultSamples read_samples(const std::vector<std::string>& files, const std::string& backend, bool has_warnings) {
  Reader reader(backend, has_warnings);
  for (const std::string& file : files) reader.read(file);
  return reader.take();
}

}  // namespace corun

#include "experiments/compare_samples.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "experiments/compare_settling.h"
#include "experiments/results_file.h"
#include "experiments/summary.h"
#include "traces/base/error.h"

namespace corun {

namespace {

// Runs without metrics, which failed, come last.
constexpr char kRuns[] =
    "SELECT id, scenario, backend, policy, seed, error FROM runs "
    "LEFT JOIN (SELECT run, min(rowid) AS first FROM metrics GROUP BY run) ON run = id ORDER BY first IS NULL, first";

class Reader {
 public:
  void read(const std::string& file) {
    const auto results = open_results(file);
    try {
      const std::map<std::string, std::size_t> groups = read_runs(*results, file);
      read_metrics(*results, groups);
      for (std::string& text : horizon_warnings(*results)) add_once(std::move(text));
    } catch (const SQLite::Exception& failure) {
      throw_input({file}, "reading the results: {}", failure.what());
    }
  }

  ResultSamples take() {
    for (Sample& sample : out_.samples) {
      if (!is_none_where_absent(sample.metric)) continue;
      for (const auto& [seed, id] : out_.groups[sample.group].runs)
        if (std::ranges::find(sample.values, seed, &SeedValues::value_type::first) == sample.values.end())
          sample.values.emplace_back(seed, 0.0);
    }
    return std::move(out_);
  }

 private:
  /// The group of every run of the file that is new and went well.
  std::map<std::string, std::size_t> read_runs(SQLite::Database& results, const std::string& file) {
    std::map<std::string, std::size_t> fresh;
    SQLite::Statement row(results, kRuns);
    while (row.executeStep()) {
      const std::string id = row.getColumn(0);
      if (!seen_.insert(id).second) continue;
      const std::size_t index = group(row.getColumn(1), row.getColumn(2), row.getColumn(3));
      PolicyRuns& runs = out_.groups[index];
      if (!row.getColumn(5).isNull()) {
        if (runs.failed++ == 0) runs.first_error = row.getColumn(5).getString();
        continue;
      }
      const std::int64_t seed = row.getColumn(4);
      if (const auto [other, is_new] = runs.runs.emplace(seed, id); !is_new)
        throw Error(ErrorKind::kInput, {file},
                    fmt::format("runs {} and {} are both of scenario `{}`, policy `{}` and seed {}, and not the same",
                                other->second.substr(0, 12), id.substr(0, 12), runs.scenario, runs.policy, seed),
                    "compare results of one experiment, or tell policies apart with `as: another-name`");
      fresh.emplace(id, index);
    }
    return fresh;
  }

  std::size_t group(const std::string& scenario, const std::string& backend, const std::string& policy) {
    const auto [at, is_new] = group_of_.try_emplace({scenario, backend, policy}, out_.groups.size());
    if (is_new) out_.groups.push_back({scenario, backend, policy, {}, 0, ""});
    return at->second;
  }

  void read_metrics(SQLite::Database& results, const std::map<std::string, std::size_t>& groups) {
    std::map<std::string, std::int64_t> seeds;
    for (const auto& [id, index] : groups)
      for (const auto& [seed, run] : out_.groups[index].runs)
        if (run == id) seeds[id] = seed;
    SQLite::Statement row(results, "SELECT run, client, metric, unit, value FROM metrics ORDER BY rowid");
    while (row.executeStep()) {
      const auto run = groups.find(row.getColumn(0));
      const double value = row.getColumn(4).getDouble();
      if (run == groups.end() || row.getColumn(4).isNull() || !std::isfinite(value)) continue;
      sample(run->second, row.getColumn(1), row.getColumn(2), row.getColumn(3))
          .values.emplace_back(seeds[run->first], value);
    }
  }

  Sample& sample(std::size_t group, const std::string& client, const std::string& metric, const std::string& unit) {
    const auto [at, is_new] = sample_of_.try_emplace({group, client, metric}, out_.samples.size());
    if (is_new) out_.samples.push_back({group, client, metric, unit, {}});
    return out_.samples[at->second];
  }

  void add_once(std::string text) {
    if (std::ranges::find(out_.warnings, text) == out_.warnings.end()) out_.warnings.push_back(std::move(text));
  }

  ResultSamples out_;
  std::set<std::string> seen_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> group_of_;
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> sample_of_;
};

}  // namespace

ResultSamples read_samples(const std::vector<std::string>& files) {
  Reader reader;
  for (const std::string& file : files) reader.read(file);
  return reader.take();
}

}  // namespace corun

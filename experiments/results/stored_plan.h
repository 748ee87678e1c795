#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/results/row_writer.h"
#include "experiments/run/plan.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace corun {

using Rows = std::vector<std::vector<Cell>>;

/// Which part of a plan a process does: run i of the plan, counted from 0, is in shard i % count + 1.
struct Shard {
  std::size_t index = 1, count = 1;
  bool has(std::size_t run) const { return run % count + 1 == index; }
  std::string to_string() const;  ///< "2/3"
};
/// nullopt where the text is no shard.
std::optional<Shard> parse_shard(const std::string& text);

/// What a results file says before its first run: which runs it is to hold.
struct StoredPlan {
  Rows planned_runs;                              ///< position, point, run
  Rows points;                                    ///< point, parameter, value, number, unit
  Rows experiments;                               ///< the question: name, description, file, changes, text, sha256
  Rows expectations;                              ///< and what is expected, by scenario
  Rows error_classes;                             ///< run, client, mechanism, programs, unmeasured; no hash holds them
  Rows mechanisms;                                ///< run, mechanism, device_laws; no hash holds them either
  std::map<std::string, std::string> properties;  ///< "experiment", "recorded", "shard", "results_revision"

  bool empty() const { return planned_runs.empty(); }
  std::vector<std::string> runs() const;  ///< ids, each once, in order
  std::optional<Shard> shard() const;
  std::string revision() const;  ///< of its results; "0" of files from before there were revisions
};

StoredPlan stored_plan(const Experiment& experiment, const Plan& plan, const std::optional<Shard>& shard = {});
/// The question alone, of results that are not resumed.
StoredPlan stored_question(const Experiment& experiment);
/// Of a file; empty where it was written without one. The property `hash` is left out.
StoredPlan stored_plan(SQLite::Database& results);

/// How two plans differ, for people: "4 runs and 6 runs, 2 in common"; "" if they are of
/// the same runs, computed by the same revision. Shards are not compared.
std::string difference(const StoredPlan& a, const StoredPlan& b);

/// The row that a statement stands at.
std::vector<Cell> cells_of(SQLite::Statement& statement);
/// The rows of a query.
Rows rows_of(SQLite::Database& results, const std::string& query);

}  // namespace corun

#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "experiments/results/schema.h"
#include "experiments/results/stored_plan.h"
#include "experiments/run/runner.h"

namespace corun {

/// Everything that a results file holds of one run, in the order of kRunTables.
struct StoredRun {
  std::string id;
  std::array<Rows, kRunTables.size()> tables;

  /// But for the wall time, which differs from time to time.
  bool is_same(const StoredRun& other) const;
};

/// Reads the runs of a results file one after the other, in the order of its plan. The database must outlive it.
class StoredRuns {
 public:
  explicit StoredRuns(SQLite::Database& results);
  ~StoredRuns();

  std::optional<StoredRun> next();

 private:
  class Cursor;
  std::array<std::unique_ptr<Cursor>, kRunTables.size()> cursors_;
};

/// XXH3-128 of plan, points and every row of every run in the order of the plan, but for wall times: 32 hex digits.
/// Equal for equal results, however many workers, shards and interruptions they took.
std::string results_hash(SQLite::Database& results);
/// Of a file. Throws Error(kInput) as open_results does.
std::string results_hash(const std::string& path);

/// What became of the runs that a file holds, by id, as far as summaries need it: metrics, events, notes, error.
std::map<std::string, RunOutcome> stored_outcomes(SQLite::Database& results);

}  // namespace corun

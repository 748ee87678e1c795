#include "experiments/results/stored_runs.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstring>

#include "experiments/base/hash.h"
#include "experiments/results/file.h"

namespace corun {

namespace {

/// First place of every run in the plan.
constexpr char kFirstPlaces[] = "(SELECT run AS planned, min(position) AS first FROM planned_runs GROUP BY run)";

/// Whether runs lie in the file in the order of its plan, as they do unless missing ones were added later.
bool lies_in_plan_order(SQLite::Database& results) {
  if (!results.tableExists("planned_runs")) return true;
  SQLite::Statement place(
      results, fmt::format("SELECT first FROM runs JOIN {} ON planned = id ORDER BY runs.rowid", kFirstPlaces));
  for (std::int64_t last = -1; place.executeStep(); last = place.getColumn(0))
    if (place.getColumn(0).getInt64() < last) return false;
  return true;
}

std::string in_plan_order(const std::string& table, bool lies_in_order) {
  if (lies_in_order) return fmt::format("SELECT * FROM {} ORDER BY rowid", table);
  return fmt::format("SELECT t.* FROM {} t JOIN {} ON planned = t.{} ORDER BY first, t.rowid", table, kFirstPlaces,
                     table == "runs" ? "id" : "run");
}

Rows without_wall_time(Rows runs) {
  for (std::vector<Cell>& row : runs) row.at(kWallTimeColumn) = std::monostate{};
  return runs;
}

/// Feeds rows to a hash so that different tables never look alike.
class RowHasher {
 public:
  void add(const Rows& rows) {
    add('r', rows.size());
    for (const std::vector<Cell>& row : rows)
      for (const Cell& cell : row) std::visit([this](const auto& value) { add(value); }, cell);
  }
  std::string digest() const { return hasher_.digest(); }

 private:
  void add(std::monostate) { hasher_.update("-"); }
  void add(std::int64_t value) { add('i', value); }
  void add(double value) { add('d', value); }
  void add(const std::string& text) {
    add('t', text.size());
    hasher_.update(text);
  }
  template <class T>
  void add(char kind, T value) {
    char bytes[1 + sizeof value] = {kind};
    std::memcpy(bytes + 1, &value, sizeof value);
    hasher_.update({bytes, sizeof bytes});
  }

  ContentHasher hasher_;
};

}  // namespace

bool StoredRun::is_same(const StoredRun& other) const {
  for (std::size_t i = 1; i < tables.size(); ++i)
    if (tables[i] != other.tables[i]) return false;
  return without_wall_time(tables[0]) == without_wall_time(other.tables[0]);
}

/// The rows of one table, handed out run by run.
class StoredRuns::Cursor {
 public:
  Cursor(SQLite::Database& results, const std::string& query) : statement_(results, query) { advance(); }

  /// The run that comes next; nullopt behind the last one.
  const std::optional<std::string>& run() const { return run_; }
  Rows take(const std::string& run) {
    Rows rows;
    for (; run_ == run; advance()) rows.push_back(cells_of(statement_));
    return rows;
  }

 private:
  void advance() {
    run_.reset();
    if (statement_.executeStep()) run_ = statement_.getColumn(0).getString();
  }

  SQLite::Statement statement_;
  std::optional<std::string> run_;
};

StoredRuns::StoredRuns(SQLite::Database& results) {
  const bool lies_in_order = lies_in_plan_order(results);
  for (std::size_t i = 0; i < cursors_.size(); ++i)
    if (results.tableExists(kRunTables[i]))
      cursors_[i] = std::make_unique<Cursor>(results, in_plan_order(kRunTables[i], lies_in_order));
}

StoredRuns::~StoredRuns() = default;

std::optional<StoredRun> StoredRuns::next() {
  if (!cursors_[0]->run()) return std::nullopt;
  StoredRun run{*cursors_[0]->run(), {}};
  for (std::size_t i = 0; i < cursors_.size(); ++i)
    if (cursors_[i] != nullptr) run.tables[i] = cursors_[i]->take(run.id);
  return run;
}

std::string results_hash(SQLite::Database& results) {
  RowHasher hasher;
  const StoredPlan plan = stored_plan(results);
  hasher.add(plan.planned_runs);
  hasher.add(plan.points);
  StoredRuns runs(results);
  while (const auto run = runs.next()) {
    hasher.add(without_wall_time(run->tables[0]));
    for (std::size_t i = 1; i < run->tables.size(); ++i)
      if (kRunTables[i] != kRequestsTable || !run->tables[i].empty()) hasher.add(run->tables[i]);
  }
  return hasher.digest();
}

std::string results_hash(const std::string& path) {
  try {
    return results_hash(*open_results(path));
  } catch (const SQLite::Exception& failure) {
    throw_input({path}, "reading the results: {}", reason(failure));
  }
}

std::map<std::string, RunOutcome> stored_outcomes(SQLite::Database& results) {
  std::map<std::string, RunOutcome> outcomes;
  SQLite::Statement run(results, "SELECT id, events, notes, error FROM runs");
  while (run.executeStep()) {
    RunOutcome& outcome = outcomes[run.getColumn(0)];
    outcome.events = static_cast<std::uint64_t>(run.getColumn(1).getInt64());
    outcome.notes = run.getColumn(2).getString();
    if (!run.getColumn(3).isNull()) outcome.error = Error(ErrorKind::kPolicy, run.getColumn(3).getString());
  }
  SQLite::Statement metric(results, "SELECT run, client, metric, value, unit FROM metrics ORDER BY rowid");
  while (metric.executeStep()) {
    const auto at = outcomes.find(metric.getColumn(0));
    if (at != outcomes.end())
      at->second.metrics.push_back(
          {metric.getColumn(1), metric.getColumn(2), metric.getColumn(3).getDouble(), metric.getColumn(4)});
  }
  return outcomes;
}

}  // namespace corun

#include "experiments/validate/tables.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <map>
#include <optional>

#include "experiments/results/results.h"

namespace corun::validation {

namespace {

constexpr char kSchema[] = R"(
CREATE TABLE IF NOT EXISTS validation_predictions (sha256 TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS validation_states (
  run TEXT NOT NULL REFERENCES runs(id), samples INTEGER NOT NULL, quantity TEXT NOT NULL, least REAL NOT NULL,
  mean REAL NOT NULL, most REAL NOT NULL);
CREATE TABLE IF NOT EXISTS validation (
  scenario TEXT NOT NULL, policy TEXT NOT NULL, client TEXT NOT NULL, metric TEXT NOT NULL, tier TEXT NOT NULL,
  bound TEXT NOT NULL, seen INTEGER NOT NULL, predicted REAL, predicted_low REAL, predicted_high REAL, measured REAL,
  measured_low REAL, measured_high REAL, repetitions INTEGER NOT NULL, error REAL, noise REAL, goal REAL NOT NULL,
  verdict TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS validation_nulls (
  scenario TEXT NOT NULL, policy TEXT NOT NULL, client TEXT NOT NULL, metric TEXT NOT NULL, model TEXT NOT NULL,
  value REAL NOT NULL, error REAL);
CREATE TABLE IF NOT EXISTS validation_budget (
  scenario TEXT NOT NULL, policy TEXT NOT NULL, client TEXT NOT NULL, metric TEXT NOT NULL, constant TEXT NOT NULL,
  uncertainty TEXT NOT NULL, change REAL NOT NULL);
)";

constexpr std::pair<const char*, Reading DeviceState::*> kQuantities[] = {
    {"sm_clock_mhz", &DeviceState::sm_clock_mhz},
    {"memory_clock_mhz", &DeviceState::memory_clock_mhz},
    {"power_w", &DeviceState::power_w},
    {"temperature_c", &DeviceState::temperature_c}};
constexpr const char* kThrottle = "throttle_reasons";

/// Opens the file with these tables and does `work` in one transaction.
void write(const std::string& results, const std::function<void(SQLite::Database&)>& work) {
  try {
    SQLite::Database database(results, SQLite::OPEN_READWRITE, 10'000);
    SQLite::Transaction transaction(database);
    database.exec(kSchema);
    work(database);
    transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw Error(ErrorKind::kDevice, {results}, fmt::format("writing the validation: {}", failure.what()));
  }
}

template <class... Values>
void insert(SQLite::Database& database, const char* table, const Values&... values) {
  std::string marks = "?";
  for (std::size_t i = 1; i < sizeof...(values); ++i) marks += ",?";
  SQLite::Statement statement(database, fmt::format("INSERT INTO {} VALUES ({})", table, marks));
  int column = 0;
  const auto put = [&](const auto& value) {
    ++column;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::optional<double>>) {
      if (value) {
        statement.bind(column, *value);
      } else {
        statement.bind(column);
      }
    } else {
      statement.bind(column, value);
    }
  };
  (put(values), ...);
  statement.exec();
}

using MaybeNumber = std::optional<double>;

MaybeNumber of(const std::optional<Estimate>& estimate, double Estimate::*member) {
  return estimate ? MaybeNumber((*estimate).*member) : std::nullopt;
}

void insert_row(SQLite::Database& database, const ScoreRow& row) {
  const auto known = [&](double value) { return row.has_error() ? MaybeNumber(value) : std::nullopt; };
  insert(database, "validation", row.cell.scenario, row.cell.policy, row.client, row.metric,
         std::string(to_string(row.tier)), std::string(to_string(row.bound)), row.is_seen ? 1 : 0,
         of(row.predicted, &Estimate::mean), of(row.predicted, &Estimate::low), of(row.predicted, &Estimate::high),
         of(row.measured, &Estimate::mean), of(row.measured, &Estimate::low), of(row.measured, &Estimate::high),
         static_cast<std::int64_t>(row.measured ? row.measured->count : 0), known(row.error), known(row.noise),
         row.goal.worst, std::string(to_string(row.verdict)));
  for (const NullFigure& null : row.nulls)
    insert(database, "validation_nulls", row.cell.scenario, row.cell.policy, row.client, row.metric, null.model,
           null.value, row.measured ? MaybeNumber(row.error_of(null)) : std::nullopt);
}

std::map<std::string, std::vector<Metric>> metrics_by_run(SQLite::Database& database) {
  std::map<std::string, std::vector<Metric>> metrics;
  SQLite::Statement rows(database, "SELECT run, client, metric, value, unit FROM metrics ORDER BY rowid");
  while (rows.executeStep())
    metrics[rows.getColumn(0).getString()].push_back({rows.getColumn(1).getString(), rows.getColumn(2).getString(),
                                                      rows.getColumn(3).getDouble(), rows.getColumn(4).getString()});
  return metrics;
}

void read_runs(SQLite::Database& database, EarlierValidation& earlier) {
  const auto metrics = metrics_by_run(database);
  SQLite::Statement rows(
      database,
      "SELECT id, scenario, policy, seed, error, notes, backend, horizon_ns FROM runs WHERE backend <> 'simulation' "
      "ORDER BY rowid");
  while (rows.executeStep()) {
    earlier.backend = rows.getColumn(6).getString();
    const auto found = metrics.find(rows.getColumn(0).getString());
    earlier.runs.push_back({{rows.getColumn(1).getString(), rows.getColumn(2).getString()},
                            static_cast<std::uint64_t>(rows.getColumn(3).getInt64()),
                            Duration{rows.getColumn(7).getInt64()},
                            found == metrics.end() ? std::vector<Metric>{} : found->second,
                            rows.getColumn(4).getString(),
                            rows.getColumn(5).getString()});
  }
}

void read_states(SQLite::Database& database, EarlierValidation& earlier) {
  SQLite::Statement rows(database,
                         "SELECT scenario, policy, samples, quantity, least, mean, most, run FROM validation_states "
                         "JOIN runs ON runs.id = run ORDER BY validation_states.rowid");
  std::string run;
  while (rows.executeStep()) {
    if (run != rows.getColumn(7).getString()) {
      run = rows.getColumn(7).getString();
      earlier.states.push_back({{rows.getColumn(0).getString(), rows.getColumn(1).getString()}, {}});
      earlier.states.back().second.samples = static_cast<std::size_t>(rows.getColumn(2).getInt64());
    }
    DeviceState& state = earlier.states.back().second;
    const std::string quantity = rows.getColumn(3).getString();
    if (quantity == kThrottle) state.throttle_reasons = static_cast<std::uint64_t>(rows.getColumn(6).getInt64());
    for (const auto& [name, member] : kQuantities)
      if (quantity == name)
        state.*member = {rows.getColumn(4).getDouble(), rows.getColumn(5).getDouble(), rows.getColumn(6).getDouble()};
  }
}

}  // namespace

void store_predictions(const std::string& results, const Predictions& predictions) {
  write(results, [&](SQLite::Database& database) {
    insert(database, "validation_predictions", predictions.sha256, predictions.text);
  });
}

void store_state(const std::string& results, const std::string& run, const DeviceState& state) {
  if (state.samples == 0) return;
  const auto samples = static_cast<std::int64_t>(state.samples);
  write(results, [&](SQLite::Database& database) {
    for (const auto& [name, member] : kQuantities) {
      const Reading& reading = state.*member;
      insert(database, "validation_states", run, samples, name, reading.least, reading.mean, reading.most);
    }
    const auto reasons = static_cast<double>(state.throttle_reasons);
    insert(database, "validation_states", run, samples, kThrottle, reasons, reasons, reasons);
  });
}

void store_scores(const std::string& results, const ValidationResult& result) {
  write(results, [&](SQLite::Database& database) {
    for (const ScoreRow& row : result.rows) insert_row(database, row);
    for (const ConstantEffect& effect : result.effects)
      for (std::size_t i = 0; i < result.rows.size(); ++i) {
        const ScoreRow& row = result.rows[i];
        if (effect.change[i] != 0)
          insert(database, "validation_budget", row.cell.scenario, row.cell.policy, row.client, row.metric,
                 effect.constant, effect.uncertainty, effect.change[i]);
      }
  });
}

EarlierValidation read_earlier(const std::string& results) {
  EarlierValidation earlier;
  try {
    SQLite::Database database(results, SQLite::OPEN_READONLY);
    if (database.execAndGet("PRAGMA user_version").getInt() != kResultsVersion)
      throw_input({results}, "this is no results file of this version: version {} is expected", kResultsVersion);
    read_runs(database, earlier);
    if (database.tableExists("validation_states")) read_states(database, earlier);
    const bool has_predictions = database.tableExists("validation_predictions");
    SQLite::Statement hash(
        database, has_predictions ? "SELECT sha256 FROM validation_predictions ORDER BY rowid" : "SELECT 1 WHERE 0");
    if (hash.executeStep()) earlier.sha256 = hash.getColumn(0).getString();
  } catch (const SQLite::Exception& failure) {
    throw_input({results}, "the measurements cannot be read: {}", failure.what());
  }
  if (earlier.runs.empty())
    throw Error(ErrorKind::kInput, {results}, "no run here took place outside simulation",
                "`--measured` takes the results file of a validation or of `simcli execute`");
  return earlier;
}

}  // namespace corun::validation

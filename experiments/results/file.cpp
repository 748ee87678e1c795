#include "experiments/results/file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>

#include "experiments/results/results.h"
#include "experiments/results/schema.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr int kMostStatementBytes = 1 << 20;

/// Called by SQLite for everything that a statement would do, while it is compiled.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  constexpr std::array<std::string_view, 9> kPragmas = {"table_info",  "table_xinfo",     "table_list",
                                                        "index_list",  "index_info",      "user_version",
                                                        "quick_check", "integrity_check", "application_id"};
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {
      const std::string_view name(first);
      const bool sets_a_value = second != nullptr && (name == "user_version" || name == "application_id");
      return std::ranges::find(kPragmas, name) != kPragmas.end() && !sets_a_value ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

void restrict(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);  // "x" is a column, never text
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kMostStatementBytes);
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw Error(ErrorKind::kInput, {path}, "these are no results of simcli: " + reason,
              "`simcli run EXPERIMENT -o FILE` writes them");
}

/// Our tables are read as tables: a view, a virtual table or a column that is computed may take for ever to read.
void refuse_what_is_no_table(SQLite::Database& results, const std::string& path) {
  SQLite::Database own(":memory:", SQLite::OPEN_READWRITE);
  own.exec(kResultsSchema);
  SQLite::Statement known(own, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (known.executeStep()) {
    const std::string name = known.getColumn(0);
    SQLite::Statement found(results,
                            "SELECT type, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE name = ? COLLATE "
                            "NOCASE AND type IN ('table', 'view')");
    found.bind(1, name);
    while (found.executeStep())
      if (found.getColumn(0).getString() != "table" || found.getColumn(1).getInt() != 0)
        throw_input({path}, "`{}` is no table, but computed when it is read: this file is none of simcli's", name);
    SQLite::Statement column(results, fmt::format("PRAGMA table_xinfo({})", name));
    while (column.executeStep())
      if (column.getColumn(6).getInt() > 1)
        throw_input({path}, "column `{}` of `{}` is computed when it is read: this file is none of simcli's",
                    column.getColumn(1).getString(), name);
  }
}

/// Ends a statement that takes more steps than one on so small a file can: a scan of a row takes about one for a byte,
/// and sorting some dozens.
void bound_steps(sqlite3* database, const std::string& path) {
  constexpr std::uintmax_t kAlways = 200'000'000, kForEachByte = 500, kLargest = std::uintmax_t{100} << 20;
  std::error_code failure;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failure);
  if (failure || bytes > kLargest) return;
  const auto most = std::min<std::uintmax_t>(kAlways + kForEachByte * bytes, std::numeric_limits<int>::max());
  sqlite3_progress_handler(
      database, static_cast<int>(most), [](void*) { return 1; }, nullptr);
}

}  // namespace

std::string reason(const SQLite::Exception& failure) {
  if (failure.getErrorCode() != SQLITE_INTERRUPT) return failure.what();
  return "it takes longer than results of their size can";
}

void reading(const std::string& path, const std::function<void()>& read) {
  try {
    read();
  } catch (const SQLite::Exception& failure) {
    throw_input({path}, "reading the results: {}", reason(failure));
  }
}

void unbound_steps(SQLite::Database& results) { sqlite3_progress_handler(results.getHandle(), 0, nullptr, nullptr); }

std::vector<std::string> columns_of(SQLite::Database& results, const std::string& table) {
  std::string quoted = "\"";
  for (const char c : table) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  std::vector<std::string> names;
  SQLite::Statement column(results, "PRAGMA table_info(" + quoted + "\")");
  while (column.executeStep()) names.push_back(column.getColumn(1));
  return names;
}

std::string results_revision(SQLite::Database& results) {
  if (columns_of(results, "properties").empty()) return "0";
  SQLite::Statement row(results, "SELECT substr(value, 1, 20) FROM properties WHERE key = 'results_revision'");
  return row.executeStep() ? row.getColumn(0).getString() : "0";
}

bool holds_results(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string head(100, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.starts_with("SQLite format 3") && std::string_view(head).substr(68, 4) == "Coru";  // its application id
}

std::unique_ptr<SQLite::Database> open_results(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure))
    throw Error(ErrorKind::kInput, {path}, "there is no such results file", "`simcli run EXPERIMENT.yaml` writes one");
  try {
    auto results = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY);
    restrict(results->getHandle());
    results->exec("PRAGMA cell_size_check = ON; PRAGMA query_only = ON");
    sqlite3_set_authorizer(results->getHandle(), authorize, nullptr);
    refuse_what_is_no_table(*results, path);
    bound_steps(results->getHandle(), path);
    for (const char* table : {"runs", "metrics"})
      if (columns_of(*results, table).empty()) refuse(path, fmt::format("there is no table `{}`", table));
    const int version = results->execAndGet("PRAGMA user_version").getInt();
    if (version > kResultsVersion)
      throw Error(ErrorKind::kInput, {path}, fmt::format("schema {} is newer than {}", version, kResultsVersion),
                  "read it with the Corun that wrote it");
    return results;
  } catch (const SQLite::Exception& error) {
    refuse(path, error.what());
  }
}

}  // namespace corun

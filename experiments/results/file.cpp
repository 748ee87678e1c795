#include "experiments/results/file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "experiments/results/results.h"
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

}  // namespace

std::vector<std::string> columns_of(SQLite::Database& results, const std::string& table) {
  std::string quoted = "\"";
  for (const char c : table) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  std::vector<std::string> names;
  SQLite::Statement column(results, "PRAGMA table_info(" + quoted + "\")");
  while (column.executeStep()) names.push_back(column.getColumn(1));
  return names;
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
    for (const char* table : {"runs", "metrics"})
      if (columns_of(*results, table).empty())
        throw_input({path}, "these are no results of simcli: there is no table `{}`", table);
    const int version = results->execAndGet("PRAGMA user_version").getInt();
    if (version > kResultsVersion)
      throw Error(ErrorKind::kInput, {path}, fmt::format("schema {} is newer than {}", version, kResultsVersion),
                  "read it with the Corun that wrote it");
    return results;
  } catch (const SQLite::Exception& error) {
    throw_input({path}, "these are no results of simcli: {}", error.what());
  }
}

}  // namespace corun

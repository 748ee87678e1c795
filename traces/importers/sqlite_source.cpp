#include "traces/importers/sqlite_source.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace corun {
namespace {

constexpr std::size_t kReadVersionByte = 19, kWriteVersionByte = 18;
constexpr int kLongestText = 1 << 24;

bool is_write_ahead(const std::string& bytes) {
  return bytes.size() > kReadVersionByte && bytes[kReadVersionByte] == 2;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// SQLite reads a file that was cut as far as it goes. The header says how many pages there were, where the program that
// changed the file last wrote that, too.
void refuse_cut(const std::string& bytes) {
  constexpr std::size_t kPageSize = 16, kChanges = 24, kPages = 28, kChangesWithPages = 92, kHeader = 100;
  if (bytes.size() < kHeader) throw SQLite::Exception{"the file ends in its header"};
  const std::uint32_t stated = big_endian(bytes, kPageSize, 2), pages = big_endian(bytes, kPages, 4);
  const std::uint64_t page = stated == 1 ? 65536 : stated;
  const bool says_pages = pages > 0 && big_endian(bytes, kChanges, 4) == big_endian(bytes, kChangesWithPages, 4);
  if (says_pages && pages * page > bytes.size())
    throw SQLite::Exception{
        fmt::format("the file is cut: {} of {} bytes are there", bytes.size(), std::uint64_t{pages} * page)};
}

void harden(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 5);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 100'000);
}

// The content is mapped, not copied; SQLite does not write to it when told that it is read-only.
void attach(SQLite::Database& database, const std::string& bytes) {
  auto* content = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int result =
      sqlite3_deserialize(database.getHandle(), "main", content, size, size, SQLITE_DESERIALIZE_READONLY);
  if (result != SQLITE_OK) throw SQLite::Exception{database.getHandle(), result};
}

std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (char c : name) text += c == '"' ? std::string{"\"\""} : std::string{c};
  return text + '"';
}

}  // namespace

SqliteSource::SqliteSource(const std::string& bytes) : database_(":memory:", SQLite::OPEN_READWRITE) {
  refuse_cut(bytes);
  harden(database_.getHandle());
  if (is_write_ahead(bytes)) {
    rewritten_ = bytes;
    rewritten_[kWriteVersionByte] = rewritten_[kReadVersionByte] = 1;
  }
  attach(database_, rewritten_.empty() ? bytes : rewritten_);
  database_.exec("PRAGMA cell_size_check = ON");

  SQLite::Statement tables{database_,
                           "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"};
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    SQLite::Statement columns{database_, fmt::format("PRAGMA table_info({})", in_quotes(table))};
    while (columns.executeStep()) columns_[table].insert(columns.getColumn(1).getString());
  }
}

bool SqliteSource::has_column(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

std::optional<SQLite::Statement> SqliteSource::select(std::string_view table,
                                                      const std::vector<std::string_view>& columns,
                                                      std::string_view order_by) const {
  if (!has_table(table)) return std::nullopt;
  std::string list;
  for (std::string_view column : columns) {
    list += list.empty() ? "" : ", ";
    list += has_column(table, column) ? in_quotes(column) : "NULL";
  }
  std::string query = fmt::format("SELECT {} FROM {}", list, in_quotes(table));
  if (!order_by.empty() && has_column(table, order_by)) query += " ORDER BY " + in_quotes(order_by);
  return std::optional<SQLite::Statement>{std::in_place, database_, query};
}

std::optional<std::int64_t> integer_at(SQLite::Statement& row, int column) {
  const SQLite::Column cell = row.getColumn(column);
  return cell.isInteger() ? std::optional{cell.getInt64()} : std::nullopt;
}

}  // namespace corun

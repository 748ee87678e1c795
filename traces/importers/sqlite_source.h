#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// A foreign SQLite file, opened for reading only and trusted with nothing: no views, triggers or virtual tables of the
/// file run, and damaged cells are errors. Tables and columns are looked up by name, because exporters add and drop
/// both from version to version. Errors of SQLite surface as SQLite::Exception; one thread.
class SqliteSource {
 public:
  /// `bytes` is the content of the file and has to outlive this object.
  explicit SqliteSource(const std::string& bytes);

  bool has_table(std::string_view table) const { return columns_.contains(table); }
  bool has_column(std::string_view table, std::string_view column) const;

  /// Rows of a table in stored order, with the named columns; a column the table lacks reads as NULL. `order_by` names
  /// a column, or is empty. Empty if there is no such table.
  std::optional<SQLite::Statement> select(std::string_view table, const std::vector<std::string_view>& columns,
                                          std::string_view order_by = {}) const;

 private:
  std::string rewritten_;  // content in rollback-journal form, where the file was in write-ahead form
  SQLite::Database database_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;
};

/// An integer cell; empty for NULL and for anything but an integer.
std::optional<std::int64_t> integer_at(SQLite::Statement& row, int column);

}  // namespace corun

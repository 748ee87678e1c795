#include <SQLiteCpp/SQLiteCpp.h>

#include "python/tables.h"
#include "traces/base/error.h"

namespace corun {

namespace {

/// A column whose type shows itself as the rows come: it begins as integers, and is of reals or of text from the first
/// such value on.
class GrowingColumn {
 public:
  explicit GrowingColumn(const std::string& name) : column_(name, std::vector<std::int64_t>{}) {}

  void add(const SQLite::Column& value) {
    if (value.isNull()) return column_.add_missing();
    if (value.isInteger() && !is_text()) return column_.add(static_cast<std::int64_t>(value.getInt64()));
    if (value.isFloat() && !is_text()) {
      if (is_integer()) column_ = Column::as_reals(column_);
      return column_.add(value.getDouble());
    }
    if (!is_text()) become_text();
    column_.add(std::string_view(value.getText(), static_cast<std::size_t>(value.size())));
  }

  Column finish() {
    const bool is_all_missing = is_integer() && column_.size() > 0 && column_.missing() == column_.size();
    return is_all_missing ? Column::as_reals(column_) : std::move(column_);
  }

 private:
  bool is_integer() const { return std::holds_alternative<std::vector<std::int64_t>>(column_.values()); }
  bool is_text() const { return std::holds_alternative<Words>(column_.values()); }

  void become_text() {
    if (column_.missing() < column_.size())
      throw_input({}, "column `{}` holds both numbers and text: cast it in the query", column_.name());
    Column text(column_.name(), Words{});
    for (std::size_t row = 0; row < column_.size(); ++row) text.add_missing();
    column_ = std::move(text);
  }

  Column column_;
};

}  // namespace

std::shared_ptr<const Table> query_table(const std::string& path, const std::string& query,
                                         const std::vector<std::string>& parameters) {
  try {
    const SQLite::Database database(path, SQLite::OPEN_READONLY);
    SQLite::Statement statement(database, query);
    for (std::size_t i = 0; i < parameters.size(); ++i) statement.bind(static_cast<int>(i + 1), parameters[i]);
    std::vector<GrowingColumn> columns;
    for (int i = 0; i < statement.getColumnCount(); ++i) columns.emplace_back(statement.getColumnName(i));
    while (statement.executeStep())
      for (int i = 0; i < statement.getColumnCount(); ++i)
        columns[static_cast<std::size_t>(i)].add(statement.getColumn(i));
    auto table = std::make_shared<Table>();
    for (GrowingColumn& column : columns) table->columns.push_back(column.finish());
    return table;
  } catch (const SQLite::Exception& error) {
    throw_input({path}, "{}", error.what());
  }
}

}  // namespace corun

#include "experiments/results/cells.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

namespace corun {

namespace {

[[noreturn]] void refuse(SQLite::Statement& row, int column, const char* expected) {
  throw SQLite::Exception(fmt::format("column `{}` holds what is no {}", row.getColumnName(column), expected));
}

}  // namespace

std::int64_t instant_at(SQLite::Statement& row, int column) {
  constexpr std::int64_t kFurthest = std::int64_t{1} << 60;
  const SQLite::Column cell = row.getColumn(column);
  const bool is_near = cell.isInteger() && cell.getInt64() <= kFurthest && cell.getInt64() >= -kFurthest;
  if (!is_near) refuse(row, column, "time in ns");
  return cell.getInt64();
}

double number_at(SQLite::Statement& row, int column) {
  const SQLite::Column cell = row.getColumn(column);
  if (!cell.isInteger() && !cell.isFloat()) refuse(row, column, "number");
  return cell.getDouble();
}

}  // namespace corun

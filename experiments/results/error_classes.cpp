#include "experiments/results/error_classes.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "experiments/results/file.h"

namespace corun {

StoredErrorClasses::StoredErrorClasses(SQLite::Database& results) {
  are_known_ = !columns_of(results, "error_classes").empty();
  if (!are_known_) return;
  SQLite::Statement row(results,
                        "SELECT run, client, mechanism, programs, unmeasured, (horizon_ns - warmup_ns) * 1e-9 "
                        "FROM error_classes JOIN runs ON id = run");
  while (row.executeStep())
    by_run_[row.getColumn(0)][row.getColumn(1)] = {row.getColumn(2),
                                                   static_cast<std::size_t>(row.getColumn(3).getInt64()),
                                                   row.getColumn(4), row.getColumn(5).getDouble()};
}

std::map<std::string, ErrorClass> StoredErrorClasses::of(const std::string& run) const {
  const auto found = by_run_.find(run);
  return found == by_run_.end() ? std::map<std::string, ErrorClass>{} : found->second;
}

StoredMechanisms::StoredMechanisms(SQLite::Database& results) {
  if (columns_of(results, "mechanisms").empty()) return;
  SQLite::Statement row(results, "SELECT run, mechanism, device, device_laws FROM mechanisms JOIN runs ON id = run");
  while (row.executeStep())
    by_run_[row.getColumn(0)] = {row.getColumn(1), row.getColumn(2), device_laws(row.getColumn(3).getString())};
}

MechanismOn StoredMechanisms::of(const std::string& run) const {
  const auto found = by_run_.find(run);
  return found == by_run_.end() ? MechanismOn{} : found->second;
}

}  // namespace corun

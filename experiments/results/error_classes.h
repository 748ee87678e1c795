#pragma once

#include <map>
#include <string>

#include "experiments/bands/basis.h"
#include "experiments/bands/error_class.h"

namespace SQLite {
class Database;
}

namespace corun {

/// What a results file says of how its predicted figures may be off: by run, of each client.
class StoredErrorClasses {
 public:
  explicit StoredErrorClasses(SQLite::Database& results);

  /// False of files from before this was stored, whose figures have no bands.
  bool are_known() const { return are_known_; }
  /// Of the clients of a run; none: too few such were measured, or not known.
  std::map<std::string, ErrorClass> of(const std::string& run) const;

 private:
  bool are_known_ = false;
  std::map<std::string, std::map<std::string, ErrorClass>> by_run_;
};

/// What a results file says of how its runs share the device.
class StoredMechanisms {
 public:
  explicit StoredMechanisms(SQLite::Database& results);

  /// Without a mechanism where nothing is shared, it was measured, or a file is from before this was stored.
  MechanismOn of(const std::string& run) const;

 private:
  std::map<std::string, MechanismOn> by_run_;
};

}  // namespace corun

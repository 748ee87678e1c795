#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corun::record {

/// The environment that a program will get: a copy of ours with changes. Ours is never touched.
class Environment {
 public:
  static Environment inherited();

  /// "" where it is not set.
  std::string get(std::string_view name) const;
  /// The entry is then the last one.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);

  /// For exec: pointers into this object, ended by a null.
  std::vector<char*> pointers();

 private:
  std::vector<std::string> entries_;  ///< "NAME=value"
};

}  // namespace corun::record

#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace corun {

/// Content hashes of the files that an experiment names (traces and plug-ins), by path.
using FileHashes = std::map<std::string, std::string>;

/// What decides a result, as sorted `key=value` lines: the text that run ids are hashes of.
class CanonicalLines {
 public:
  /// `hashes` must outlive it.
  explicit CanonicalLines(const FileHashes& hashes) : hashes_(hashes) {}

  template <class T>
  void add(std::string_view key, const T& value) {
    lines_.insert(fmt::format("{}={}", key, value));
  }
  /// Several values in one line, in the order of the calls, with a space between.
  template <class T>
  void append(std::string_view key, const T& value) {
    std::string& values = joined_[std::string(key)];
    values += fmt::format("{}{}", values.empty() ? "" : " ", value);
  }
  /// Every line of `text`, behind `prefix`.
  void add_text(std::string_view prefix, std::string_view text);

  /// Of a file that the experiment names.
  const std::string& hash_of(const std::string& path) const { return hashes_.at(path); }
  std::string text() const;

 private:
  const FileHashes& hashes_;
  std::set<std::string> lines_;
  std::map<std::string, std::string> joined_;
};

}  // namespace corun

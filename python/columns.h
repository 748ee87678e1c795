#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace corun {

/// Text of which there are fewer different words than rows: every row holds the number of its word.
class Words {
 public:
  void add(std::string_view word);
  void add_missing() { codes_.push_back(0); }

  const std::vector<std::int32_t>& codes() const { return codes_; }
  std::size_t count() const { return ends_.size() - 1; }  ///< of different words
  std::string_view word(std::size_t code) const;
  /// The words as Arrow lays them out: word i is bytes()[ends()[i], ends()[i + 1]).
  const std::vector<std::int32_t>& ends() const { return ends_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::vector<std::int32_t> codes_;
  std::vector<std::int32_t> ends_{0};
  std::string bytes_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

/// One column of a table: integers, reals or text, contiguous in memory. A missing real is also NaN; a missing integer
/// or text has a place without meaning.
class Column {
 public:
  using Values = std::variant<std::vector<std::int64_t>, std::vector<double>, Words>;

  Column(std::string name, Values values) : name_(std::move(name)), values_(std::move(values)) {}

  void add(std::int64_t value);  ///< of integers, and of reals
  void add(double value);        ///< of reals
  void add(std::string_view value);
  void add_missing();

  const std::string& name() const { return name_; }
  const Values& values() const { return values_; }
  std::size_t size() const { return size_; }
  std::size_t missing() const { return missing_; }
  bool is_missing(std::size_t row) const { return missing_ > 0 && (validity_[row / 8] >> (row % 8) & 1) == 0; }
  /// One bit a row, 1 where there is a value; nullptr where none is missing.
  const std::uint8_t* validity() const { return missing_ > 0 ? validity_.data() : nullptr; }
  /// The same values as reals.
  static Column as_reals(const Column& integers);

 private:
  void count(bool is_there);

  std::string name_;
  Values values_;
  std::vector<std::uint8_t> validity_;
  std::size_t size_ = 0, missing_ = 0;
};

/// Columns of equal length. Immutable once handed out: readers share its memory.
struct Table {
  std::vector<Column> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
};

}  // namespace corun

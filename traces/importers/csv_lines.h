#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace corun {

/// Lines of a text with their numbers: a byte-order mark, carriage returns and a missing last line end are taken off.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text);

  /// Next line that is not empty; false at the end.
  bool next();
  std::string_view line() const { return line_; }
  std::uint32_t number() const { return number_; }  ///< from 1
  bool is_cut_off() const { return is_cut_off_; }   ///< last line, and the file does not end with a line end

 private:
  std::string_view rest_, line_;
  std::uint32_t number_ = 0;
  bool is_cut_off_ = false;
};

/// Fields of a comma-separated line, blanks around them taken off. A field that begins with a double quote runs to the
/// next one and may hold commas. Views point into the line.
void split_csv(std::string_view line, std::vector<std::string_view>& fields);

/// Where the columns of a table are, found by name: upper and lower case are the same.
class CsvColumns {
 public:
  explicit CsvColumns(std::vector<std::string_view> names) : names_(std::move(names)) {}

  /// Index of the first of `names` that there is a column for.
  std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const;
  bool has(std::string_view name) const { return find({name}).has_value(); }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string_view> names_;
};

/// Field of a row, or "" where the column or the field is missing.
std::string_view field_at(const std::vector<std::string_view>& fields, std::optional<std::size_t> column);

}  // namespace corun

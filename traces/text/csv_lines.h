#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// Lines of a text with their numbers: a byte-order mark, carriage returns and a missing last line end are taken off.
/// A line end between double quotes belongs to its field.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text);

  /// Next line that is not empty; false at the end.
  bool next();
  std::string_view line() const { return line_; }
  std::uint32_t number() const { return number_; }  ///< of its first line, from 1
  bool is_cut_off() const { return is_cut_off_; }   ///< last line, and the file does not end with a line end

 private:
  std::string_view rest_, line_;
  std::uint32_t number_ = 0, lines_read_ = 0;
  bool is_cut_off_ = false, has_open_quote_ = false;
};

/// Fields of a line, blanks around them taken off. A field that begins with a double quote runs to its closing one and
/// may hold separators; `""` within stays as it is (see unquoted). Views point into the line.
void split_csv(std::string_view line, std::vector<std::string_view>& fields, char separator = ',');

/// Text of a field: two double quotes are one.
std::string unquoted(std::string_view field);

/// Comma, semicolon or tab: what the header has most of, outside of quotes.
char separator_of(std::string_view header);

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

/// Rows below a header, each with as many cells as the header. Some programs leave the last columns to the first row:
/// a number of cells below the header's that most rows have is right, too; empty cells at the end do not count. Where
/// the separator is no comma, numbers may have a decimal comma: `16,6` is read as 16.6.
class CsvTable {
 public:
  /// `lines` stands at the header, and must outlive the table.
  explicit CsvTable(CsvLines& lines);

  const CsvColumns& columns() const { return columns_; }
  /// Goes to the next row; false at the end.
  bool next();
  const std::vector<std::string_view>& cells() const { return cells_; }  ///< of the row; valid until the next
  bool is_header() const { return cells_ == header_; }                   ///< the row repeats the header
  /// Why the row's cells are not those of the columns; nullptr if they are.
  const char* fault() const;

 private:
  void write_decimal_points();

  CsvLines& lines_;
  char separator_;
  std::vector<std::string_view> header_;
  CsvColumns columns_;
  std::size_t usual_cells_ = SIZE_MAX;  ///< of most rows, where fewer than the header's
  std::vector<std::string_view> cells_;
  std::string numbers_;  ///< cells with decimal points in place of commas
};

}  // namespace corun

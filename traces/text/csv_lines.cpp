#include "traces/text/csv_lines.h"

#include <algorithm>
#include <map>
#include <utility>

namespace corun {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSeparators = ",;\t";
constexpr std::size_t kLongestQuoted = 64 << 10;  // a quote that is not closed by then is none

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Behind the closing quote of a field that begins at `begin` with one; npos where there is none.
std::size_t end_of_quoted(std::string_view line, std::size_t begin) {
  for (std::size_t at = begin + 1; (at = line.find('"', at)) != std::string_view::npos; at += 2)
    if (at + 1 >= line.size() || line[at + 1] != '"') return at + 1;
  return std::string_view::npos;
}

/// The line end that ends a row: the first outside of quotes, npos where the text ends before. `is_open` where a quote
/// is not closed within kLongestQuoted.
std::size_t end_of_row(std::string_view text, bool& is_open) {
  bool in_quotes = false, may_begin = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && (in_quotes || may_begin)) in_quotes = !in_quotes;
    if (in_quotes && at > kLongestQuoted) break;
    if (c == '\n' && !in_quotes) return at;
    may_begin = kSeparators.find(c) != std::string_view::npos || c == '"' || (may_begin && c == ' ');
  }
  is_open = in_quotes;
  return in_quotes ? text.find('\n') : std::string_view::npos;
}

/// Without those at the end that are empty.
std::size_t filled(const std::vector<std::string_view>& cells) {
  std::size_t count = cells.size();
  while (count > 0 && cells[count - 1].empty()) --count;
  return count;
}

bool has_decimal_comma(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), ',') == 1 &&
         cell.find_first_not_of("0123456789+-,eE \"") == std::string_view::npos;
}

}  // namespace

CsvLines::CsvLines(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool CsvLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = has_open_quote_ ? rest_.find('\n') : end_of_row(rest_, has_open_quote_);
    is_cut_off_ = end == std::string_view::npos;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(is_cut_off_ ? rest_.size() : end + 1);
    number_ = lines_read_ + 1;
    lines_read_ += 1 + static_cast<std::uint32_t>(std::count(line_.begin(), line_.end(), '\n'));
    while (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (!without_blanks(line_).empty()) return true;
  }
  return false;
}

void split_csv(std::string_view line, std::vector<std::string_view>& fields, char separator) {
  fields.clear();
  for (bool has_more = true; has_more;) {
    const std::size_t begin = line.find_first_not_of(separator == '\t' ? " " : " \t");
    std::size_t from = 0;
    const bool is_quoted = begin != std::string_view::npos && line[begin] == '"';
    if (is_quoted) from = end_of_quoted(line, begin);
    const std::size_t end = from == std::string_view::npos ? from : line.find(separator, from);
    std::string_view field = without_blanks(line.substr(0, end));
    if (is_quoted && field.size() >= 2 && field.back() == '"') field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    has_more = end != std::string_view::npos;
    if (has_more) line.remove_prefix(end + 1);
  }
}

std::string unquoted(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
  }
  return text;
}

char separator_of(std::string_view header) {
  std::vector<std::string_view> fields;
  char best = ',';
  std::size_t most = 0;
  for (const char separator : kSeparators) {
    split_csv(header, fields, separator);
    if (fields.size() > most) best = separator;
    most = std::max(most, fields.size());
  }
  return best;
}

std::optional<std::size_t> CsvColumns::find(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names) {
    const auto found =
        std::find_if(names_.begin(), names_.end(), [&](std::string_view column) { return is_same_word(column, name); });
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  }
  return std::nullopt;
}

std::string_view field_at(const std::vector<std::string_view>& fields, std::optional<std::size_t> column) {
  return column && *column < fields.size() ? fields[*column] : std::string_view{};
}

CsvTable::CsvTable(CsvLines& lines) : lines_(lines), separator_(separator_of(lines.line())), columns_({}) {
  split_csv(lines.line(), header_, separator_);
  columns_ = CsvColumns{header_};
  std::map<std::size_t, std::size_t> rows_of;  // by number of cells
  std::size_t rows = 0;
  for (CsvLines ahead = lines; ahead.next(); ++rows) {
    split_csv(ahead.line(), cells_, separator_);
    ++rows_of[filled(cells_)];
  }
  for (const auto& [cells, of_rows] : rows_of)
    if (2 * of_rows > rows && cells < header_.size()) usual_cells_ = cells;
}

bool CsvTable::next() {
  if (!lines_.next()) return false;
  split_csv(lines_.line(), cells_, separator_);
  if (separator_ != ',') write_decimal_points();
  return true;
}

const char* CsvTable::fault() const {
  const std::size_t count = filled(cells_);
  if (cells_.size() == header_.size() || count == usual_cells_) return nullptr;
  if (cells_.size() > header_.size() && count <= header_.size()) return nullptr;
  if (count > header_.size()) return "row with more cells than the header";
  return lines_.is_cut_off() ? "last row is cut off" : "row with fewer cells than the header";
}

void CsvTable::write_decimal_points() {
  numbers_.clear();
  numbers_.reserve(lines_.line().size());  // views stay valid
  for (std::string_view& cell : cells_) {
    if (!has_decimal_comma(cell)) continue;
    const std::size_t begin = numbers_.size();
    numbers_ += cell;
    std::replace(numbers_.begin() + static_cast<std::ptrdiff_t>(begin), numbers_.end(), ',', '.');
    cell = std::string_view{numbers_}.substr(begin);
  }
}

}  // namespace corun

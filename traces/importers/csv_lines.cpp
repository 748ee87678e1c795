#include "traces/importers/csv_lines.h"

#include <algorithm>

namespace corun {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

CsvLines::CsvLines(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool CsvLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    is_cut_off_ = end == std::string_view::npos;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(is_cut_off_ ? rest_.size() : end + 1);
    ++number_;
    while (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (!without_blanks(line_).empty()) return true;
  }
  return false;
}

void split_csv(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (bool has_more = true; has_more;) {
    const std::size_t begin = line.find_first_not_of(" \t");
    std::size_t from = 0;
    const bool is_quoted = begin != std::string_view::npos && line[begin] == '"';
    if (is_quoted) from = line.find('"', begin + 1);
    const std::size_t comma = from == std::string_view::npos ? from : line.find(',', from);
    std::string_view field = without_blanks(line.substr(0, comma));
    if (is_quoted && field.size() >= 2 && field.back() == '"') field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    has_more = comma != std::string_view::npos;
    if (has_more) line.remove_prefix(comma + 1);
  }
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

}  // namespace corun

#include "experiments/base/table.h"

#include <algorithm>
#include <optional>
#include <set>

#include "experiments/base/terminal.h"

namespace corun {

namespace {

using Row = std::vector<std::string>;

constexpr std::size_t kGap = 2;
constexpr std::size_t kLongText = 24;   ///< columns of a cell that may be wrapped, and what it keeps at least
constexpr std::size_t kLeastText = 20;  ///< columns next to an indentation

struct TableColumn {
  std::size_t index = 0;  ///< in the rows
  std::size_t widest = 0;
  std::size_t least = 0;
  bool is_right = false;
};

std::size_t longest_word_of(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// The columns that have something below their heading.
std::vector<TableColumn> columns_of(const std::vector<Row>& rows, const std::vector<std::size_t>& right) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    TableColumn column{i, 0, 0, std::ranges::find(right, i) != right.end()};
    std::size_t longest_word = 0;
    bool is_used = false;
    for (const Row& row : rows) {
      if (i >= row.size()) continue;
      longest_word = std::max(longest_word, longest_word_of(row[i]));
      column.widest = std::max(column.widest, display_width(row[i]));
      is_used = is_used || (&row != &rows.front() && !row[i].empty());
    }
    column.least = std::max(longest_word, std::min(column.widest, kLongText));
    if (is_used) columns.push_back(column);
  }
  return columns;
}

const std::string& cell(const Row& row, const TableColumn& column) {
  static const std::string none;
  return column.index < row.size() ? row[column.index] : none;
}

std::size_t total(const std::vector<TableColumn>& columns, std::size_t TableColumn::*width) {
  std::size_t sum = 0;
  for (const TableColumn& column : columns) sum += column.*width + (sum > 0 ? kGap : 0);
  return sum;
}

/// Where the first of the lines ends into which `text` is broken: at a space or at its end, as words stay whole.
std::size_t break_in(std::string_view text, std::size_t width) {
  const std::size_t most = byte_of_character(text, width);
  if (most >= text.size()) return text.size();
  const std::size_t space = text.rfind(' ', most);
  const std::size_t word = text.find_first_not_of(' ');
  return space != std::string_view::npos && space > word ? space : std::min(text.find(' ', most), text.size());
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  do {
    const std::size_t end = break_in(text, width);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  } while (!text.empty());
  return lines;
}

/// A table of these columns, each of which takes its least width and what is left over.
std::string table_of(const std::vector<Row>& rows, std::vector<TableColumn> columns, std::size_t width) {
  std::size_t rest = width - total(columns, &TableColumn::least);
  for (TableColumn& column : columns) {
    const std::size_t more = std::min(column.widest - column.least, rest);
    column.least += more;
    rest -= more;
  }
  std::string text;
  for (const Row& row : rows) {
    std::vector<std::vector<std::string>> cells;
    for (const TableColumn& column : columns) cells.push_back(lines_of(cell(row, column), column.least));
    const std::size_t height = std::ranges::max(cells, {}, &std::vector<std::string>::size).size();
    for (std::size_t i = 0; i < height; ++i) {
      std::string line;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::string part = i < cells[c].size() ? cells[c][i] : "";
        const std::string padding(columns[c].least - display_width(part), ' ');
        line += (columns[c].is_right ? padding + part : part + padding) + std::string(kGap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

/// The rows with the cells that are empty because the one above holds for them, too.
std::vector<Row> filled(std::vector<Row> rows, const std::vector<TableColumn>& columns, std::size_t keys) {
  for (std::size_t i = 2; i < rows.size(); ++i)
    for (std::size_t c = 0; c < keys; ++c)
      if (const std::size_t at = columns[c].index; cell(rows[i], columns[c]).empty() && at < rows[i].size())
        rows[i][at] = cell(rows[i - 1], columns[c]);
  return rows;
}

/// How many leading columns tell the rows apart; 0: not even all of them do.
std::size_t keys_of(const std::vector<Row>& rows, const std::vector<TableColumn>& columns) {
  const std::vector<Row> whole = filled(rows, columns, columns.size());
  for (std::size_t keys = 1; keys <= columns.size(); ++keys) {
    std::set<Row> seen;
    for (const Row& row : whole) {
      Row key;
      for (std::size_t c = 0; c < keys; ++c) key.push_back(cell(row, columns[c]));
      seen.insert(std::move(key));
    }
    if (seen.size() == whole.size()) return keys;
  }
  return 0;
}

/// The columns, divided so that each part fits behind the keys; empty if there is one that does not.
std::vector<std::vector<TableColumn>> divided(const std::vector<TableColumn>& columns, std::size_t keys,
                                              std::size_t width) {
  const std::vector<TableColumn> front(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(keys));
  std::vector<std::vector<TableColumn>> parts = {front};
  for (std::size_t c = keys; c < columns.size(); ++c) {
    std::vector<TableColumn>& part = parts.back();
    part.push_back(columns[c]);
    if (total(part, &TableColumn::least) <= width) continue;
    if (part.size() == keys + 1) return {};
    part.pop_back();
    parts.push_back(front);
    --c;
  }
  return parts;
}

/// The heading, and the rows that have something in one of these columns behind the keys.
std::vector<Row> rows_with(const std::vector<Row>& rows, const std::vector<TableColumn>& columns, std::size_t keys) {
  std::vector<Row> kept = {rows.front()};
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (std::any_of(columns.begin() + static_cast<std::ptrdiff_t>(keys), columns.end(),
                    [&](const TableColumn& column) { return !cell(rows[i], column).empty(); }))
      kept.push_back(rows[i]);
  return kept;
}

/// Each row as a list of its cells.
std::string records_of(const std::vector<Row>& rows, const std::vector<TableColumn>& columns, std::size_t width) {
  std::size_t label = 0;
  for (const TableColumn& column : columns) label = std::max(label, display_width(cell(rows.front(), column)));
  const std::size_t indent = label + kGap;
  std::string text;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (i > 1) text += "\n";
    for (const TableColumn& column : columns) {
      const std::string& heading = cell(rows.front(), column);
      if (cell(rows[i], column).empty()) continue;
      const std::string line = heading + std::string(indent - display_width(heading), ' ') + cell(rows[i], column);
      text += wrapped(line, width, indent) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string aligned(const std::vector<Row>& rows, const std::vector<std::size_t>& right, std::size_t width) {
  if (rows.empty()) return "";
  const std::vector<TableColumn> columns = columns_of(rows, right);
  if (columns.empty()) return std::string(rows.size(), '\n');
  if (total(columns, &TableColumn::widest) <= width || total(columns, &TableColumn::least) <= width)
    return table_of(rows, columns, width);
  const std::size_t keys = keys_of(rows, columns);
  const std::vector<Row> whole = filled(rows, columns, keys);
  const auto parts = keys == 0 ? std::vector<std::vector<TableColumn>>() : divided(columns, keys, width);
  if (parts.empty()) return records_of(whole, columns, width);
  std::string text = table_of(rows, parts.front(), width);
  for (std::size_t i = 1; i < parts.size(); ++i)
    text += "\n" + table_of(rows_with(whole, parts[i], keys), parts[i], width);
  return text;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  width = std::max(width, indent + kLeastText);
  std::string all;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const std::size_t first = break_in(line, width);
    all += line.substr(0, line.find_last_not_of(' ', first - 1) + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' ', first), line.size()));
    if (!line.empty())
      for (const std::string& part : lines_of(line, width - indent)) all += "\n" + std::string(indent, ' ') + part;
    if (end == text.size()) return all;
    all += "\n";
    text.remove_prefix(end + 1);
  }
}

}  // namespace corun

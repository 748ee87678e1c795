#include "experiments/report/metric_meanings.h"

#include <vector>

#include "experiments/base/built_in_files.h"

namespace corun::report {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (line.starts_with('|') && line.size() > 1) {
    const std::size_t end = line.find('|', 1);
    if (end == std::string_view::npos) break;
    cells.push_back(trimmed(line.substr(1, end - 1)));
    line.remove_prefix(end);
  }
  return cells;
}

std::string without_code_marks(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '`' && c != '*') plain += c;
  return plain;
}

}  // namespace

std::map<std::string, std::string> read_metric_meanings(std::string_view markdown) {
  std::map<std::string, std::string> meanings;
  for (std::size_t begin = 0; begin < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', begin), markdown.size());
    const std::vector<std::string_view> cells = cells_of(markdown.substr(begin, end - begin));
    begin = end + 1;
    if (cells.size() != 4 || !cells[0].starts_with('`')) continue;
    std::string_view names = cells[0];
    while (!names.empty()) {
      const std::size_t comma = std::min(names.find(','), names.size());
      meanings[without_code_marks(trimmed(names.substr(0, comma)))] = without_code_marks(cells[3]);
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
  }
  return meanings;
}

std::map<std::string, std::string> metric_meanings() { return read_metric_meanings(metrics_page()); }

}  // namespace corun::report

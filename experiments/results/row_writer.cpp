#include "experiments/results/row_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cmath>

#include "experiments/base/json.h"
#include "experiments/base/terminal.h"

namespace corun {

namespace {

bool is_missing(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return std::holds_alternative<std::monostate>(cell) || (number != nullptr && !std::isfinite(*number));
}

std::string text_of(const Cell& cell) {
  if (is_missing(cell)) return "";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(cell));
}

class AlignedWriter : public RowWriter {
 public:
  AlignedWriter(const std::vector<std::string>& columns, Sink sink, std::size_t width)
      : sink_(std::move(sink)), width_(width), lines_(1), is_number_(columns.size(), true) {
    for (const std::string& column : columns) lines_[0].push_back(printable(column));
  }
  void row(const std::vector<Cell>& cells) override {
    std::vector<std::string>& line = lines_.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      is_number_[i] = is_number_[i] && !std::holds_alternative<std::string>(cells[i]);
      line.push_back(is_missing(cells[i]) ? "-" : printable(text_of(cells[i])));
    }
  }
  void end() override {
    std::vector<std::size_t> right;
    for (std::size_t i = 0; i < is_number_.size(); ++i)
      if (is_number_[i]) right.push_back(i);
    sink_(aligned(lines_, right, width_));
  }

 private:
  Sink sink_;
  std::size_t width_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<bool> is_number_;
};

class CsvWriter : public RowWriter {
 public:
  CsvWriter(const std::vector<std::string>& columns, Sink sink) : sink_(std::move(sink)) {
    row({columns.begin(), columns.end()});
  }
  void row(const std::vector<Cell>& cells) override {
    std::string line;
    for (const Cell& cell : cells) line += (&cell == cells.data() ? "" : ",") + quoted(inert(cell));
    sink_(line + "\n");
  }
  void end() override {}

 private:
  /// A text that a spreadsheet would take for a formula gets an apostrophe in front, which spreadsheets do not show.
  static std::string inert(const Cell& cell) {
    const std::string text = text_of(cell);
    const bool is_text = std::holds_alternative<std::string>(cell);
    return is_text && !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos ? "'" + text
                                                                                                            : text;
  }
  static std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
  }
  Sink sink_;
};

std::string json_text(const Cell& cell) {
  if (is_missing(cell)) return "null";
  if (const auto* text = std::get_if<std::string>(&cell)) return Json().value(*text).text();
  return text_of(cell);
}

/// A row a line, so that a table of any length is written as it is read.
class JsonWriter : public RowWriter {
 public:
  JsonWriter(const std::vector<std::string>& columns, Sink sink) : sink_(std::move(sink)) {
    sink_("{\n  \"schema_version\": 1,\n  \"columns\": " + array({columns.begin(), columns.end()}) +
          ",\n  \"rows\": [");
  }
  void row(const std::vector<Cell>& cells) override {
    sink_((has_rows_ ? ",\n    " : "\n    ") + array(cells));
    has_rows_ = true;
  }
  void end() override { sink_(has_rows_ ? "\n  ]\n}\n" : "]\n}\n"); }

 private:
  static std::string array(const std::vector<Cell>& cells) {
    std::string text = "[";
    for (const Cell& cell : cells) text += (&cell == cells.data() ? "" : ", ") + json_text(cell);
    return text + "]";
  }
  Sink sink_;
  bool has_rows_ = false;
};

class JsonLinesWriter : public RowWriter {
 public:
  JsonLinesWriter(const std::vector<std::string>& columns, Sink sink) : sink_(std::move(sink)) {
    for (const std::string& column : columns) keys_.push_back(json_text(column) + ": ");
  }
  void row(const std::vector<Cell>& cells) override {
    std::string line = "{";
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? ", " : "") + keys_[i] + json_text(cells[i]);
    sink_(line + "}\n");
  }
  void end() override {}

 private:
  Sink sink_;
  std::vector<std::string> keys_;
};

class MarkdownWriter : public RowWriter {
 public:
  MarkdownWriter(const std::vector<std::string>& columns, Sink sink) : sink_(std::move(sink)) {
    row({columns.begin(), columns.end()});
    std::string rule = "|";
    for (std::size_t i = 0; i < columns.size(); ++i) rule += "---|";
    sink_(rule + "\n");
  }
  void row(const std::vector<Cell>& cells) override {
    std::string line = "|";
    for (const Cell& cell : cells) line += " " + markdown_text(text_of(cell)) + " |";
    sink_(line + "\n");
  }
  void end() override {}

 private:
  Sink sink_;
};

}  // namespace

namespace {

Cell cell_of(const SQLite::Column& column) {
  if (column.isNull()) return std::monostate{};
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      const bool is_markup = std::string_view("|*_`[]\\~#").find(c) != std::string_view::npos;
      out += is_markup ? std::string{'\\', c} : std::string{c};
    }
  }
  return out;
}

std::unique_ptr<RowWriter> make_row_writer(RowFormat format, const std::vector<std::string>& columns,
                                           RowWriter::Sink sink, std::size_t width) {
  switch (format) {
    case RowFormat::kCsv:
      return std::make_unique<CsvWriter>(columns, std::move(sink));
    case RowFormat::kJson:
      return std::make_unique<JsonWriter>(columns, std::move(sink));
    case RowFormat::kJsonLines:
      return std::make_unique<JsonLinesWriter>(columns, std::move(sink));
    case RowFormat::kMarkdown:
      return std::make_unique<MarkdownWriter>(columns, std::move(sink));
    case RowFormat::kAligned:
      break;
  }
  return std::make_unique<AlignedWriter>(columns, std::move(sink), width);
}

void write_rows(SQLite::Statement& statement, RowFormat format, RowWriter::Sink sink, std::size_t width) {
  std::vector<std::string> columns;
  for (int i = 0; i < statement.getColumnCount(); ++i) columns.emplace_back(statement.getColumnName(i));
  const auto writer = make_row_writer(format, columns, std::move(sink), width);
  while (statement.executeStep()) {
    std::vector<Cell> cells;
    for (int i = 0; i < statement.getColumnCount(); ++i) cells.push_back(cell_of(statement.getColumn(i)));
    writer->row(cells);
  }
  writer->end();
}

}  // namespace corun

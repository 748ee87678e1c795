#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/base/table.h"

namespace corun {

/// A value of a table: missing, a whole number, a number or text.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class RowFormat : std::uint8_t {
  kAligned,    ///< for people, numbers to the right; kept until the end. Control characters are made visible
  kCsv,        ///< RFC 4180 with "\n"; what is missing is empty
  kJson,       ///< { "schema_version": 1, "columns": [...], "rows": [[...], ...] }
  kJsonLines,  ///< an object a row, a row a line
  kMarkdown,   ///< a table whose cells cannot become markup
};

/// Writes a table row by row.
class RowWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  virtual ~RowWriter() = default;
  virtual void row(const std::vector<Cell>& cells) = 0;  ///< as many as there are columns
  virtual void end() = 0;                                ///< once, behind the last row
};

}  // namespace corun

namespace SQLite {
class Statement;
}

namespace corun {

/// Writes what a statement gives, whose parameters are bound, to its end.
void write_rows(SQLite::Statement& statement, RowFormat format, RowWriter::Sink sink, std::size_t width = kAnyWidth);

/// Text of a results file as plain text of a Markdown document.
std::string markdown_text(std::string_view text);

/// `sink` gets the text, in order. kAligned is aligned() to the width.
std::unique_ptr<RowWriter> make_row_writer(RowFormat format, const std::vector<std::string>& columns,
                                           RowWriter::Sink sink, std::size_t width = kAnyWidth);

}  // namespace corun

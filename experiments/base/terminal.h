#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "experiments/base/table.h"

namespace corun {

/// Text that is safe on a terminal: control characters (C0, DEL, C1), those that turn the direction of writing, and
/// invalid UTF-8 become \xNN, a tab one space.
std::string printable(std::string_view text);

inline constexpr std::size_t kFactIndent = 13;
/// A line of a list of facts: `label` in a column of kFactIndent, then `text` as printable().
std::string fact_line(std::string_view label, std::string_view text);

/// The text with every byte that is not UTF-8 replaced by U+FFFD.
std::string as_utf8(std::string_view text);

/// The text as one word of a shell's command line; as it is where it needs no quotes.
std::string shell_quoted(const std::string& text);

/// The number of bytes that this many characters at the front of `text` take; a byte that is not UTF-8 counts as one.
std::size_t byte_of_character(std::string_view text, std::size_t characters);
/// The begin of the character at this byte.
std::size_t begin_of_character(std::string_view text, std::size_t byte);

/// Columns that `text` takes on a terminal, counting one per Unicode scalar.
std::size_t display_width(std::string_view text);

/// What an output stream can show.
struct Terminal {
  bool is_interactive = false;  ///< a person may be looking
  bool has_color = false;
  std::size_t width = 80;

  /// Columns for a table; in a file it may have any number.
  std::size_t table_width() const { return is_interactive ? width : kAnyWidth; }
};

/// What the environment says of every terminal.
struct TerminalWishes {
  bool allows_color = true;  ///< false where NO_COLOR is set to something or TERM is "dumb"
  std::size_t width = 0;     ///< COLUMNS; 0: as wide as it is
};

/// Looks at file descriptor `fd`.
Terminal inspect_terminal(int fd, const TerminalWishes& wishes);

}  // namespace corun

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// Text that is safe on a terminal: control characters (C0, DEL, C1), those that turn the direction of writing, and
/// invalid UTF-8 become \xNN, a tab one space.
std::string printable(std::string_view text);

/// A line of a list of facts: `label` in a column of 12, then `text` as printable().
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

/// Rows of text in aligned columns, two spaces between them. The first row is the heading. Columns start left-aligned;
/// those named in `right` (by index) are right-aligned. Columns that are empty in every row but the heading are left
/// out.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& right = {});

/// What an output stream can show.
struct Terminal {
  bool is_interactive = false;  ///< a person may be looking
  bool has_color = false;
  std::size_t width = 80;
};

/// Looks at file descriptor `fd`; `allow_color` is false where NO_COLOR is set to something or TERM is "dumb".
Terminal inspect_terminal(int fd, bool allow_color);

}  // namespace corun

#pragma once

#include <string>
#include <string_view>

#include "traces/base/error.h"

namespace corun::record {

/// What the error stream can show.
struct Terminal {
  bool is_interactive = false;  ///< a person may be looking
  bool has_color = false;       ///< false also where NO_COLOR is set to something or TERM is "dumb"
};
Terminal inspect_stderr();

/// Text that is safe on a terminal: control characters and bytes that are no ASCII and no part of UTF-8 become \xNN.
std::string printable(std::string_view text);

/// An error as simcli shows them: what was found, where, what to do.
std::string render(const Error& error, bool with_color);

/// "warning: ..." on the error stream.
void warn(const Terminal& terminal, std::string_view sentence);

/// "512 B", "3.4 MB", "1.2 GB".
std::string bytes_text(std::uint64_t bytes);
/// "0:07", "12:30", "1:02:03".
std::string clock_text(double seconds);

/// A string as JSON: quoted, escaped, and valid UTF-8 for any input.
std::string json_text(std::string_view text);

}  // namespace corun::record

#pragma once

#include <string>
#include <string_view>

namespace corun {

/// Writes a whole file, readable by its owner only (mode 0600).
///
/// Without `overwrite` the path must be new. With it, an existing regular file is replaced in one step when the new one
/// is complete, so nobody ever sees half of it. A symbolic link is never followed. Nothing is left behind on failure.
/// Throws Error: kInput where the path exists or cannot be created, kDevice where writing fails (a full disk).
void write_file(const std::string& path, std::string_view bytes, bool overwrite);

}  // namespace corun

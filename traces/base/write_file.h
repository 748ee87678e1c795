#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace corun {

/// Writes a whole file, readable by its owner only (mode 0600).
///
/// Without `overwrite` the path must be new. With it, an existing regular file is replaced in one step when the new one
/// is complete, so that no reader sees half of it. A symbolic link is never followed. Nothing is left behind on
/// failure. Throws Error: kInput where the path exists or cannot be created, kDevice where writing fails (a full disk).
void write_file(const std::string& path, std::string_view bytes, bool overwrite);

/// The same for what a callback writes: `fill` gets the name of an empty file next to it, made for this call alone.
/// What `fill` throws leaves nothing behind.
void write_file_by(const std::string& path, bool overwrite, const std::function<void(const std::string& name)>& fill);

}  // namespace corun

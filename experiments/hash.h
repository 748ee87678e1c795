#pragma once

#include <string>
#include <string_view>

namespace corun {

/// XXH3-128, 32 lower-case hex digits.
std::string content_hash(std::string_view bytes);
/// Of a file as it lies on disk. Throws Error(kInput) where it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace corun

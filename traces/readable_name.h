#pragma once

#include <string>
#include <string_view>

namespace corun {

/// A name as the compiler wrote it, as people write it and captures hold it: demangled, cut at 4 KiB.
std::string readable_name(std::string_view mangled);

}  // namespace corun

#pragma once

#include <string>
#include <string_view>

namespace corun {

/// A name as the compiler wrote it, as people write it and captures hold it: demangled, cut at 4 KiB. Takes time and
/// memory in proportion to that; a name made to take more stays as it is.
std::string readable_name(std::string_view mangled);

}  // namespace corun

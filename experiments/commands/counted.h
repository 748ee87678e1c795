#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corun {

/// "1 run", "3 runs", "2 policies".
std::string counted(std::size_t count, std::string_view noun);

}  // namespace corun

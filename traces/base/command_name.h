#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// The message about a first word of a command line that is none of the program's commands, with the nearest of them;
/// "" where it is one, or an option.
std::string unknown_command(std::string_view word, const std::vector<std::string>& commands);

}  // namespace corun

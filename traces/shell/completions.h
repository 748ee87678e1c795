#pragma once

#include <array>
#include <string>
#include <string_view>

#include "traces/shell/command_tree.h"

namespace corun {

inline constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

/// A script for one of kShells that completes the commands, options and words of a program, and file names elsewhere.
std::string completion_script(const ShellCommand& program, std::string_view shell);

}  // namespace corun

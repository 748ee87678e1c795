#pragma once

#include <string>

#include "traces/shell/command_tree.h"

namespace corun {

/// The manual page of a program (section 1, man(7) macros): every command with its options.
std::string man_page(const ShellCommand& program, const std::string& version);

}  // namespace corun

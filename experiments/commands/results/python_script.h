#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corun {

/// Runs a script that the program holds with a Python of the user's, waits, and returns its exit code; `input` is its
/// standard input. Nothing of the working folder is imported (-P). Throws
/// Error(kUnsupported) where there is no such interpreter, with `help`.
int run_python(const std::string& interpreter, std::string_view script, const std::vector<std::string>& arguments,
               std::string_view input, const std::string& help);

}  // namespace corun

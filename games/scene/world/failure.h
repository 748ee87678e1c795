#pragma once

#include <stdexcept>
#include <string>

namespace scene {

inline constexpr int kWrongUsage = 2, kUnsupported = 3;  ///< exit codes, those of simcli

/// Ends the game with this exit code and one line: what was found, what was expected, what to do.
struct Failure : std::runtime_error {
  Failure(int code, const std::string& message) : std::runtime_error(message), exit_code(code) {}
  int exit_code;
};

}  // namespace scene

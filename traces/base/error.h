#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace corun {

/// The side that has to act when something fails. The value is the exit code of the command-line tools.
enum class ErrorKind : int {
  kInput = 2,        ///< the user: wrong flag, experiment or trace
  kUnsupported = 3,  ///< this build, trace or machine cannot do it
  kDevice = 4,       ///< the device, driver or operating system failed while running
  kPolicy = 5,       ///< a policy's author: exception or illegal action
};

/// Where in an input something was found. Lines and columns count from 1; 0 means "not known".
struct SourceLocation {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;  ///< characters to underline from `column`; 0 underlines one

  /// `file:line:column`, leaving out what is not known.
  std::string to_string() const;
};

/// The one exception of the project. It is thrown at edges (reading, checking, preparing) and by nothing inside the
/// event loop except an illegal policy action.
///
/// `what()` reads "where: what was found, what was expected"; `help` says what to do next and may be empty.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message) : Error(kind, SourceLocation{}, std::move(message)) {}
  Error(ErrorKind kind, SourceLocation where, std::string message, std::string help = {});

  ErrorKind kind() const { return kind_; }
  const SourceLocation& where() const { return where_; }
  const std::string& message() const { return message_; }  ///< without the location
  const std::string& help() const { return help_; }

 private:
  ErrorKind kind_;
  SourceLocation where_;
  std::string message_;
  std::string help_;
};

/// Throws Error(kInput) with a formatted message. For arguments and files from outside the program.
template <class... Args>
[[noreturn]] void throw_input(SourceLocation where, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kInput, std::move(where), fmt::format(format, std::forward<Args>(args)...));
}

/// Prints the broken promise and aborts. Called by CORUN_ASSERT only.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const std::string& values);

}  // namespace corun

/// A promise of ours: on in release builds too, never reachable from input. The text after the condition is an
/// fmt format string with the values that explain the failure, simulated time among them where there is one.
#define CORUN_ASSERT(condition, ...)                                                         \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      ::corun::assertion_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    }                                                                                        \
  } while (false)

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "traces/base/time.h"

namespace corun::executor {

/// A program to start.
struct Program {
  std::vector<std::string> words;          ///< the program, looked for in PATH unless it has a slash, and its arguments
  std::vector<std::string> environment{};  ///< NAME=VALUE each, added to our own or in their place
  std::vector<int> descriptors{};          ///< that it inherits; no other of ours that closes on exec
  int input = -1;                          ///< becomes its standard input; -1 = ours
  int output = -1;                         ///< becomes its standard output and error; -1 = ours
  bool ends_with_us = false;               ///< is asked to end (SIGTERM) when the thread that starts it ends
};

/// Starts it in a process group of its own, so that an interrupt from the terminal is for us alone, and returns its
/// process id; does not wait. Returns -1 and sets errno where it cannot be started.
pid_t spawn(const Program& program);

/// Whether a process of ours has ended; it is gone from the system's list then, and its id must not be used again.
/// `status` takes what waitpid() says of it.
bool has_ended(pid_t process, int* status = nullptr);

/// Waits until a process of ours has ended, `patience` at most. True if it has.
bool await_end(pid_t process, Duration patience, int* status = nullptr);

}  // namespace corun::executor

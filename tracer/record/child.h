#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tracer/record/host/environment.h"
#include "tracer/record/host/signals.h"

namespace corun::record {

/// How a program is started.
struct ChildSetting {
  std::vector<std::string> command;
  Environment environment;
  bool is_only_recorded = true;  ///< its own process id is the only one that may record (CORUN_TRACE_ONLY_PID)
  bool is_silent = false;        ///< stdin and stdout are /dev/null
};

/// The program that is being recorded. It keeps our working directory, files and process group, and lives on if we do
/// not.
class Child {
 public:
  /// Starts it. Throws Error(kDevice) where the machine cannot make another process; a command that cannot be executed
  /// is an ended child with exec_error().
  Child(ChildSetting setting, const Signals& signals);

  pid_t process() const { return process_; }
  /// errno of the failed exec; 0 where the program runs or ran.
  int exec_error() const { return exec_error_; }

  /// Exit code in the manner of shells, 128 + n for signal n, once the program has ended.
  std::optional<int> exit_code();

  /// Does nothing once the program has ended: its number may be another's by then.
  void send(int signal_number);

 private:
  pid_t process_ = -1;
  int exec_error_ = 0;
  std::optional<int> exit_code_;
};

}  // namespace corun::record

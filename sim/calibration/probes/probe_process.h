#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/calibration/probes/sample.h"
#include "traces/base/time.h"

namespace corun::calibration {

/// A probe in a process of its own. Killed, by its process id, where it has not ended.
class ProbeProcess {
 public:
  /// Starts `words` (program and arguments) with these variables (NAME=VALUE) in addition to ours. Throws
  /// Error(kDevice) where it cannot.
  ProbeProcess(const std::vector<std::string>& words, const std::vector<std::string>& environment);
  ~ProbeProcess();
  ProbeProcess(const ProbeProcess&) = delete;
  ProbeProcess& operator=(const ProbeProcess&) = delete;

  /// Waits until it is ready to measure. Throws Error with what it said where it ended instead (its exit code is the
  /// kind), or Error(kDevice) where it is not within `patience`.
  void await_ready(Duration patience);
  /// Sends it the instant of CLOCK_MONOTONIC at which to begin.
  void begin_at(std::int64_t instant_ns);
  /// Waits for what it measured. Throws as await_ready() does.
  Sample await_sample(Duration patience);

 private:
  std::string await_line(Duration patience, const char* what, bool (*is_it)(const std::string& line));
  bool read_more(Duration patience);
  [[noreturn]] void fail_as_it_did();

  pid_t process_ = -1;
  int input_ = -1, output_ = -1;
  std::string unread_;  ///< of its output
  std::string said_;    ///< lines that are neither of the two
};

}  // namespace corun::calibration

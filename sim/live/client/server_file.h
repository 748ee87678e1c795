#pragma once

#include <string>

#include "sim/executor/host/wall_clock.h"
#include "sim/policy/view.h"

namespace corun::live {

/// In which a server says how it stands: two little-endian 64-bit integers, of which it writes the first one first.
///
///     when the oldest request came that it knows of and that has no token yet: CLOCK_MONOTONIC in ns, 0 = none
///     how many steps have ended
///
/// The server maps the file. It writes when a step has ended, and again when it has formed the next one, before that
/// one's first launch. The environment variable kVariable names the file to it.
class ServerFile {
 public:
  static constexpr char kVariable[] = "CORUN_SERVER";

  /// Makes the file. Throws Error(kDevice) where that fails.
  explicit ServerFile(std::string path);
  ~ServerFile();
  ServerFile(const ServerFile&) = delete;
  ServerFile& operator=(const ServerFile&) = delete;

  const std::string& path() const { return path_; }
  /// What it says now; nothing before the program has written.
  ServerView read(const executor::WallClock& clock) const;

 private:
  const std::string path_;
  int descriptor_ = -1;  // not mapped: the server could make the file shorter
};

}  // namespace corun::live

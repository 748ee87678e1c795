#pragma once

#include <string>

namespace corun {

/// The right to write the file that a path leads to, which one process at a time has and which ends with the process.
/// Other processes may read. The file is made if it is not there. Only its holder may remove or replace the
/// file.
class WriteLock {
 public:
  /// Throws Error(kInput) where another process has it or the file cannot be opened.
  explicit WriteLock(const std::string& path);
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  int file_;
};

}  // namespace corun

#pragma once

#include <errno.h>

namespace corun::guest {

/// Puts errno back at the end of its scope: what a guest does around the program's own call must not show in it.
class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  ~KeptErrno() { errno = value_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int value_;
};

}  // namespace corun::guest

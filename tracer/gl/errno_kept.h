#pragma once

#include <errno.h>

namespace corun::gl {

/// What this library does for itself between a program and GL leaves the program's errno as it was.
class ErrnoKept {
 public:
  ErrnoKept() : kept_(errno) {}
  ~ErrnoKept() { errno = kept_; }
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;

 private:
  int kept_;
};

}  // namespace corun::gl

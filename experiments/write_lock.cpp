#include "experiments/write_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun {

namespace {

/// Far behind every byte of the file, and not one of those that SQLite locks.
constexpr off_t kLockedByte = off_t{1} << 62;

}  // namespace

// A lock of the process, not of the open file: children that it forks do not inherit it, so nobody who outlives it
// keeps the file.
WriteLock::WriteLock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw_input({path}, "the results file cannot be made: {}", std::strerror(errno));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  if (fcntl(file_, F_SETLK, &lock) == 0) return;
  const bool is_taken = errno == EACCES || errno == EAGAIN;
  close(file_);
  if (is_taken)
    throw Error(ErrorKind::kInput, {path}, "another process is writing this results file",
                "wait for it, end it, or name another file with `-o`");
}

WriteLock::~WriteLock() { close(file_); }

}  // namespace corun

#include "experiments/results/write_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "traces/base/error.h"

namespace corun {

namespace {

/// Far behind every byte of the file, and not one of those that SQLite locks.
constexpr off_t kLockedByte = off_t{1} << 62;

/// Open files with locks, -1 where none. Children that a process forks close them, so that those that outlive it do not
/// keep its files.
std::array<std::atomic<int>, 64> g_locked;

void close_in_child() {
  for (std::atomic<int>& file : g_locked)
    if (const int number = file.exchange(-1); number >= 0) close(number);
}

void remember(int file) {
  static const bool is_ready = [] {
    for (std::atomic<int>& slot : g_locked) slot = -1;
    return pthread_atfork(nullptr, nullptr, close_in_child) == 0;
  }();
  for (std::atomic<int>& slot : g_locked)
    if (int none = -1; is_ready && slot.compare_exchange_strong(none, file)) return;
}

void forget(int file) {
  for (std::atomic<int>& slot : g_locked) {
    int held = file;
    slot.compare_exchange_strong(held, -1);
  }
}

int open_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw_input({path}, "the results file cannot be made: {}", std::strerror(errno));
  return file;
}

/// A lock of the open file: SQLite drops all locks of the process when it drops one of its own. 0, or errno.
int lock(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  whole.l_start = kLockedByte;
  whole.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

/// Whether the path still leads to the file, which another process may have replaced before it was locked.
bool is_there(int file, const std::string& path) {
  struct stat ours {
  }, theirs{};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

[[noreturn]] void refuse(const std::string& path, int why) {
  if (why == EACCES || why == EAGAIN)
    throw Error(ErrorKind::kInput, {path}, "another process is writing this results file",
                "wait for it, end it, or name another file with `-o`");
  throw Error(ErrorKind::kInput, {path}, fmt::format("the results file cannot be locked: {}", std::strerror(why)),
              "name a file on a file system of this machine with `-o`");
}

}  // namespace

WriteLock::WriteLock(const std::string& path) : file_(open_file(path)) {
  int why = lock(file_);
  while (why == 0 && !is_there(file_, path)) {
    close(file_);
    file_ = open_file(path);
    why = lock(file_);
  }
  if (why != 0) {
    close(file_);
    refuse(path, why);
  }
  remember(file_);
}

WriteLock::~WriteLock() {
  forget(file_);
  close(file_);
}

}  // namespace corun

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

/// A disk that fails, and one that remembers. Put in front of libc with LD_PRELOAD, for the files whose paths begin
/// with $FAULTY_DISK_UNDER; others are left alone.
///
///   FAULTY_DISK_FAIL="N ERRNO"        the N-th call (open, read, write, truncate, sync, unlink) fails with that number
///   FAULTY_DISK_FAIL="N ERRNO on"     so do all behind it
///   FAULTY_DISK_FAIL="N ERRNO short"  the N-th call writes half of what it should; writes behind it fail (a full disk)
///   FAULTY_DISK_FAIL="N ERRNO kill"   SIGKILL in front of the N-th call
///   FAULTY_DISK_LOG=FILE              says what was done, in order: lines `KIND NANOSECONDS OFFSET LENGTH PATH`,
///   behind those
///                                     of writes (W) their bytes. O open, R read, T truncate to OFFSET, S sync, U
///                                     unlink
namespace {

/// The function of that name that this library stands in front of.
template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Disk {
  const char* under = std::getenv("FAULTY_DISK_UNDER");
  int log = -1;
  long chosen = 0;
  int code = 0;
  bool goes_on = false, is_short = false, kills = false;
  long calls = 0;
  std::string open_files[1024];
  std::recursive_mutex mutex;

  Disk() {
    if (const char* path = std::getenv("FAULTY_DISK_LOG"))
      log = behind<int(const char*, int, ...)>("open")(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const char* fail = std::getenv("FAULTY_DISK_FAIL");
    if (fail == nullptr) return;
    std::sscanf(fail, "%ld %d", &chosen, &code);
    goes_on = std::strstr(fail, " on") != nullptr;
    is_short = std::strstr(fail, " short") != nullptr;
    kills = std::strstr(fail, " kill") != nullptr;
  }
};

Disk& disk() {
  static Disk* const its = new Disk;  // used until the very end
  return *its;
}

bool is_ours(const char* path) {
  return disk().under != nullptr && std::strncmp(path, disk().under, std::strlen(disk().under)) == 0;
}

const std::string* file_of(int number) {
  const bool is_known = number >= 0 && number < 1024 && !disk().open_files[number].empty();
  return is_known ? &disk().open_files[number] : nullptr;
}

void note(char kind, off_t offset, std::size_t length, const std::string& path, const void* bytes = nullptr) {
  if (disk().log < 0) return;
  static const auto write_on = behind<ssize_t(int, const void*, std::size_t)>("write");
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  char line[4096];
  const int size =
      std::snprintf(line, sizeof line, "%c %lld %lld %zu %s\n", kind, now.tv_sec * 1'000'000'000LL + now.tv_nsec,
                    static_cast<long long>(offset), length, path.c_str());
  bool is_noted = write_on(disk().log, line, static_cast<std::size_t>(size)) == size;
  if (bytes != nullptr) is_noted = is_noted && write_on(disk().log, bytes, length) == static_cast<ssize_t>(length);
  if (!is_noted) std::abort();
}

/// Counts a call on a file of ours. What is to become of it: 0, done; 1, fail; 2, write half.
int verdict(bool writes) {
  Disk& its = disk();
  const long number = ++its.calls;
  if (its.chosen == 0 || number < its.chosen) return 0;
  if (its.kills) kill(getpid(), SIGKILL);
  if (its.is_short && writes && number == its.chosen) return 2;
  const bool fails = number == its.chosen || its.goes_on || (its.is_short && writes);
  if (fails) errno = its.code;
  return fails ? 1 : 0;
}

int opened(const char* name, const char* path, int flags, mode_t mode) {
  const auto open_on = behind<int(const char*, int, ...)>(name);
  if (!is_ours(path)) return open_on(path, flags, mode);
  const std::lock_guard lock(disk().mutex);
  if (verdict(false) != 0) return -1;
  const int number = open_on(path, flags, mode);
  if (number >= 0 && number < 1024) disk().open_files[number] = path;
  if (number >= 0) note('O', 0, 0, path);
  return number;
}

ssize_t written(int number, const void* bytes, std::size_t length, off_t offset) {
  const auto write_on = behind<ssize_t(int, const void*, std::size_t, off_t)>("pwrite64");
  const std::string* path = file_of(number);
  if (path == nullptr) return write_on(number, bytes, length, offset);
  const std::lock_guard lock(disk().mutex);
  const int what = verdict(true);
  if (what == 1) return -1;
  const ssize_t done = write_on(number, bytes, what == 2 ? length / 2 : length, offset);
  if (done > 0) note('W', offset, static_cast<std::size_t>(done), *path, bytes);
  return done;
}

ssize_t read_back(int number, void* bytes, std::size_t length, off_t offset) {
  const auto read_on = behind<ssize_t(int, void*, std::size_t, off_t)>("pread64");
  const std::string* path = file_of(number);
  if (path == nullptr) return read_on(number, bytes, length, offset);
  const std::lock_guard lock(disk().mutex);
  if (verdict(false) != 0) return -1;
  note('R', offset, length, *path);
  return read_on(number, bytes, length, offset);
}

int truncated(int number, off_t size) {
  const auto truncate_on = behind<int(int, off_t)>("ftruncate64");
  const std::string* path = file_of(number);
  if (path == nullptr) return truncate_on(number, size);
  const std::lock_guard lock(disk().mutex);
  if (verdict(true) != 0) return -1;
  note('T', size, 0, *path);
  return truncate_on(number, size);
}

int synced(const char* name, int number) {
  const auto sync_on = behind<int(int)>(name);
  const std::string* path = file_of(number);
  if (path == nullptr) return sync_on(number);
  const std::lock_guard lock(disk().mutex);
  if (verdict(false) != 0) return -1;
  const int done = sync_on(number);
  note('S', 0, 0, *path);
  return done;
}

mode_t mode_of(int flags, va_list& more) { return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0; }

}  // namespace

#define OPENED(name)                                      \
  extern "C" int name(const char* path, int flags, ...) { \
    va_list more;                                         \
    va_start(more, flags);                                \
    const mode_t mode = mode_of(flags, more);             \
    va_end(more);                                         \
    return opened(#name, path, flags, mode);              \
  }
OPENED(open)
OPENED(open64)

extern "C" {
ssize_t pwrite(int file, const void* bytes, std::size_t length, off_t offset) {
  return written(file, bytes, length, offset);
}
ssize_t pwrite64(int file, const void* bytes, std::size_t length, off_t offset) {
  return written(file, bytes, length, offset);
}
ssize_t pread(int file, void* bytes, std::size_t length, off_t offset) {
  return read_back(file, bytes, length, offset);
}
ssize_t pread64(int file, void* bytes, std::size_t length, off_t offset) {
  return read_back(file, bytes, length, offset);
}
int ftruncate(int file, off_t size) noexcept { return truncated(file, size); }
int ftruncate64(int file, off_t size) noexcept { return truncated(file, size); }
int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }

int close(int file) {
  if (file >= 0 && file < 1024) disk().open_files[file].clear();
  return behind<int(int)>("close")(file);
}

int unlink(const char* path) noexcept {
  const auto unlink_on = behind<int(const char*)>("unlink");
  if (!is_ours(path)) return unlink_on(path);
  const std::lock_guard lock(disk().mutex);
  if (verdict(false) != 0) return -1;
  const int done = unlink_on(path);
  if (done == 0) note('U', 0, 0, path);
  return done;
}
}

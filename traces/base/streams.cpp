#include "traces/base/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "traces/base/error.h"

namespace corun {

namespace {

int first_failure = 0;  // errno of the first write to standard output that failed

void remember_failure(bool has_failed) {
  if (has_failed && first_failure == 0) first_failure = errno == 0 ? EIO : errno;
}

}  // namespace

/// Opened for the other direction, it answers as a closed one does: EBADF.
void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    [[maybe_unused]] const int taken = open("/dev/null", (stream == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

void put_out(std::string_view text) {
  errno = 0;
  remember_failure(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

void put_err(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void flush_out() {
  errno = 0;
  remember_failure(std::fflush(stdout) != 0);
}

std::string finish_output() {
  flush_out();
  remember_failure(std::ferror(stdout) != 0);
  return first_failure == 0 ? "" : std::strerror(first_failure);
}

int exit_code_after_output(int code) {
  const std::string failure = finish_output();
  if (failure.empty()) return code;
  print_err("error[E0600]: standard output cannot be written, what was to be printed is lost: {}\n", failure);
  return code == 0 ? static_cast<int>(ErrorKind::kDevice) : code;
}

}  // namespace corun

#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

/// Who has a seat at a client's gate (Seat::process).
namespace corun::gate {

inline constexpr std::uint32_t kNoProcess = 0;
inline constexpr std::uint32_t kFormerProcess = INT_MAX;  ///< has lost them; no process has this id

/// Whether a process has ended, with all its threads; a zombie has, which kill() does not tell. Leaves errno behind.
inline bool has_died(std::uint32_t process) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return errno == ESRCH || (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH);
  pollfd ended{descriptor, POLLIN, 0};
  const bool has_ended = poll(&ended, 1, 0) == 1;
  close(descriptor);
  return has_ended;
}

}  // namespace corun::gate

#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

/// The holder of a slot at a client's gate (Slot::process): the id of a process, or one of these.
namespace corun::gate {

inline constexpr std::uint32_t kNoProcess = 0;
inline constexpr std::uint32_t kFormerProcess = INT_MAX;  ///< has lost them; no process has this id

/// Of a process in a PID namespace of its own, as sandboxes make them: its id says nothing outside of it.
inline constexpr std::uint32_t kForeignProcess = std::uint32_t{1} << 31;

/// The namespace in which this process has its id; 0 = not known.
inline std::uint64_t pid_namespace() {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

/// This process as a slot names it, to a scheduler in that namespace.
inline std::uint32_t own_process(std::uint64_t schedulers_namespace) {
  constexpr std::uint64_t kMixing = 0x9E37'79B9'7F4A'7C15;
  const auto id = static_cast<std::uint32_t>(getpid());
  const std::uint64_t own_namespace = pid_namespace();
  if (own_namespace == 0 || schedulers_namespace == 0 || own_namespace == schedulers_namespace) return id;
  return kForeignProcess | static_cast<std::uint32_t>((own_namespace * kMixing + id) * kMixing >> 33);
}

/// Whether a process has ended, with all its threads; a zombie has, which kill() does not show. Of a foreign one that
/// is not known. Leaves errno behind.
inline bool has_died(std::uint32_t process) {
  if ((process & kForeignProcess) != 0) return false;
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return errno == ESRCH || (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH);
  pollfd ended{descriptor, POLLIN, 0};
  const bool has_ended = poll(&ended, 1, 0) == 1;
  close(descriptor);
  return has_ended;
}

}  // namespace corun::gate

#pragma once

#include <cstdint>

/// How a guest gets the memory that it shares with the scheduler: it connects to the socket of its client's gate and is
/// sent descriptors. So the memory has no name in a file system, and is sealed: nothing that a guest does can make it
/// shorter under the others. Works across PID namespaces. Any thread; errno is of no concern.
namespace corun::gate {

/// Descriptors of memory: what all clients share, and a client's lane.
struct Memory {
  int common = -1, lane = -1;
};

/// The scheduler: a socket at this path that guests connect to; -1 where there can be none. Of no other user: the
/// caller chooses a folder that others may not enter.
int listen_at(const char* path);
/// ... gives the memory to the next guest that has connected, if there is one; never waits. False where one waits and
/// cannot be let in now: the scheduler has too many files open.
bool hand_over(int listener, const Memory& memory);

enum class Receipt : std::uint8_t {
  kReceived,      ///< the caller closes both descriptors
  kNothingThere,  ///< nothing listens
  kFailed,        ///< no answer in time, one of another user, or too many files open
};
/// A guest: asks at this path, and waits for at most so long.
Receipt receive(const char* path, Memory& memory, std::int64_t patience_ns);
/// Whether a process listens at this path; true where that cannot be found out. Never waits.
bool is_answered(const char* path);

}  // namespace corun::gate

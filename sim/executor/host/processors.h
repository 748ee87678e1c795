#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace corun::executor {

inline constexpr int kAnyProcessor = -1;

/// Lets a process (0 = the calling thread) run on this processor alone; kAnyProcessor = wherever it may now.
void pin(pid_t process, int processor);

/// Keeps the calling thread on one processor (kAnyProcessor = leaves it) while it lives.
class Pinned {
 public:
  explicit Pinned(int processor);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_{};
};

/// So many processors that the calling thread may use, each another one and none the machine's first, which has most of
/// the system's own work; empty where there are fewer.
std::vector<int> choose_processors(std::size_t count);

}  // namespace corun::executor

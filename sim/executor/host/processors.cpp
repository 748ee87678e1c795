#include "sim/executor/host/processors.h"

namespace corun::executor {

void pin(pid_t process, int processor) {
  if (processor == kAnyProcessor) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(process, sizeof(set), &set);  // a machine that refuses runs it anywhere
}

Pinned::Pinned(int processor) {
  sched_getaffinity(0, sizeof(before_), &before_);
  pin(0, processor);
}

Pinned::~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }

std::vector<int> choose_processors(std::size_t count) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof(usable), &usable);
  std::vector<int> chosen;
  for (int processor = 1; processor < CPU_SETSIZE && chosen.size() < count; ++processor)
    if (CPU_ISSET(processor, &usable)) chosen.push_back(processor);
  if (chosen.size() < count) chosen.clear();
  return chosen;
}

}  // namespace corun::executor

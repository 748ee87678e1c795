#include "experiments/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace corun {

unsigned usable_processors() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  if (count > 0) return static_cast<unsigned>(count);
  return std::max(1U, std::thread::hardware_concurrency());  // more processors than the set has room for
}

}  // namespace corun

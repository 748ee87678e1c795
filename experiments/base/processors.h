#pragma once

namespace corun {

/// How many processors this process may use, 1 at least: those that its affinity (taskset, a batch system, a
/// container's cpuset) leaves it, not all that the machine has. The default number of jobs done at once.
unsigned usable_processors();

}  // namespace corun

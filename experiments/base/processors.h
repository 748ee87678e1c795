#pragma once

namespace corun {

/// How many processors this process may use, 1 at least: those that its affinity (taskset, a batch system, a
/// container's cpuset) leaves it, not all that the machine has. What is done at once where nobody says how much.
unsigned usable_processors();

}  // namespace corun

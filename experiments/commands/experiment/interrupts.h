#pragma once

#include <atomic>

namespace corun {

/// Takes SIGINT and SIGTERM from now on. The first one drops the simulations that are under way and lets runs on a GPU
/// finish, the second one ends the program, as the system does by default. Where runs are programs, the first asks them
/// to end, the second kills them, the third ends the program.
void catch_interrupts(bool runs_are_programs);

/// Whether a first one has come, and a second one.
const std::atomic<bool>& interrupted();
const std::atomic<bool>& interrupted_again();
/// The number of the newest signal, 0 before the first.
int interrupting_signal();

}  // namespace corun

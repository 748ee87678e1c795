#include "experiments/commands/experiment/interrupts.h"

#include <unistd.h>

#include <csignal>

namespace corun {

namespace {

// A signal handler reaches nothing but globals.
std::atomic<bool> g_interrupted{false}, g_interrupted_again{false}, g_has_programs{false};
std::atomic<int> g_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

constexpr char kAsked[] = "\ninterrupted: asking the programs to end (interrupt again to kill them)\n";

void interrupt(int signal) {
  g_signal.store(signal);
  const bool is_again = g_interrupted.exchange(true);
  if (!g_has_programs || is_again) std::signal(signal, SIG_DFL);
  if (is_again) g_interrupted_again.store(true);
  if (g_has_programs && !is_again) [[maybe_unused]]
    const ssize_t said = write(STDERR_FILENO, kAsked, sizeof kAsked - 1);
}

}  // namespace

void catch_interrupts(bool runs_are_programs) {
  g_has_programs = runs_are_programs;
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
}

const std::atomic<bool>& interrupted() { return g_interrupted; }
const std::atomic<bool>& interrupted_again() { return g_interrupted_again; }
int interrupting_signal() { return g_signal; }

}  // namespace corun

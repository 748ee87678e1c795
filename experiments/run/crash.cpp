#include "experiments/run/crash.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "experiments/run/reproduction.h"

namespace corun {

namespace {

struct Crash {
  int signal;
  std::string_view name;
  struct sigaction before {};
};
std::array<Crash, 5> g_crashes{{{SIGSEGV, "SIGSEGV: memory that is not there"},
                                {SIGBUS, "SIGBUS: memory that cannot be had"},
                                {SIGFPE, "SIGFPE: arithmetic that has no result"},
                                {SIGILL, "SIGILL: an instruction that is none"},
                                {SIGABRT, "SIGABRT: abort() was called"}}};

/// Written with system calls alone, as a signal handler must.
void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(std::uint64_t number) {
  std::array<char, 20> digits;
  std::size_t begin = digits.size();
  do {
    digits[--begin] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  say(std::string_view(digits.data() + begin, digits.size() - begin));
}

void explain(const WatchedRun* run) {
  if (run == nullptr) return say(", not in a run\n");
  say(", ");
  say(run->place());
  say("\n  simulated time: ");
  say(static_cast<std::uint64_t>(to_ns(run->now())));
  say(" ns, or later within the same instant's work\n");
  say(run->advice());
}

void on_crash(int signal, siginfo_t* info, void*) {
  for (Crash& crash : g_crashes) {
    if (crash.signal != signal) continue;
    say("\nerror: the program crashed (");
    say(crash.name);
    say(")");
    explain(WatchedRun::of_this_thread());
    sigaction(signal, &crash.before, nullptr);
  }
  // What a fault of this thread interrupted faults again on return; a signal that was sent has to be sent again.
  if (info->si_code <= 0) raise(signal);
}

}  // namespace

void explain_crashes() {
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (Crash& crash : g_crashes) sigaction(crash.signal, &action, &crash.before);
}

void prepare_thread_for_crashes() {
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  struct Stack {
    std::unique_ptr<char[]> bytes;
    ~Stack() {
      const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      if (bytes) sigaltstack(&none, nullptr);
    }
  };
  stack_t there{};
  if (sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
  static thread_local Stack stack;
  auto bytes = std::make_unique<char[]>(kBytes);
  const stack_t ours{.ss_sp = bytes.get(), .ss_flags = 0, .ss_size = kBytes};
  if (sigaltstack(&ours, nullptr) == 0) stack.bytes = std::move(bytes);
}

}  // namespace corun

#include "tracer/record/host/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "traces/base/error.h"

namespace corun::record {

namespace {

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  return action;
}

bool is_ignored(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigemptyset(&taken_);
  const auto take = [this](int number) {
    if (!is_ignored(number)) sigaddset(&taken_, number);
  };
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT})
    take(number);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) take(number);
  sigaddset(&taken_, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  const struct sigaction ignore = action_of(SIG_IGN), standard = action_of(SIG_DFL);
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
  ::sigaction(SIGCHLD, &standard, &child_before_);  // an ignored one would leave nothing to wait for
  descriptor_ = ::signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0)
    throw Error(ErrorKind::kDevice, "cannot listen for signals: " + std::generic_category().message(errno));
}

Signals::~Signals() {
  ::close(descriptor_);
  restore_in_child();
}

std::optional<Signals::Arrival> Signals::next(int milliseconds) {
  pollfd ready{descriptor_, POLLIN, 0};
  if (::poll(&ready, 1, milliseconds) <= 0) return std::nullopt;
  signalfd_siginfo seen{};
  if (::read(descriptor_, &seen, sizeof(seen)) != sizeof(seen)) return std::nullopt;
  return Arrival{static_cast<int>(seen.ssi_signo), seen.ssi_code == SI_KERNEL};
}

void Signals::restore_in_child() const {
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace corun::record

#pragma once

#include <signal.h>

#include <optional>

namespace corun::record {

/// The signals that reach simtrace while it waits for a program, taken one by one outside of signal handlers.
///
/// As long as this object lives, SIGCHLD and the signals that would end us and that programs get from others are held
/// back (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, timers, real-time signals ...), and SIGPIPE does nothing;
/// those that were ignored before stay ignored. One object, one thread.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  struct Arrival {
    int number = 0;
    bool is_from_terminal = false;  ///< the terminal has sent it to the program too

    bool asks_to_stop() const { return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT; }
  };

  /// The next signal; nothing after so many milliseconds without one.
  std::optional<Arrival> next(int milliseconds);

  /// In the child of a fork: everything as it was before this object.
  void restore_in_child() const;

 private:
  sigset_t taken_{};
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
  struct sigaction child_before_ {};
  int descriptor_ = -1;
};

}  // namespace corun::record

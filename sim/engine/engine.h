#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "sim/engine/event_queue.h"
#include "traces/base/time.h"

namespace corun {

/// Why Engine::run returned.
enum class StopReason : std::uint8_t {
  kDrained,  ///< no event is left
  kHorizon,  ///< the next event lies at or after the end
  kStopped,  ///< stop() was called
};

/// Thrown by an engine that was told from outside to end early.
struct Interrupted {};

/// The event loop of one run: it owns time and fires events in the order (time, phase, sequence).
///
/// Simultaneous events fire by phase, then in the order in which they were scheduled; that order is a promise, also
/// for events that are scheduled while their own instant is being processed. The horizon is half-open: an event at
/// `end` does not fire. One engine serves one run; it has no globals and no threads. An event's action may schedule,
/// cancel and stop. More than `kMaxEventsPerInstant` events at one instant is a zero-time loop: the engine throws
/// Error(kPolicy) naming the time and the phases of the last events, since a policy that keeps waking itself is the
/// usual cause.
class Engine {
 public:
  static constexpr std::uint64_t kMaxEventsPerInstant = 1'000'000;

  /// `interrupt`, which another thread or a signal may set, makes run() throw Interrupted before its next event.
  explicit Engine(const std::atomic<bool>* interrupt = nullptr) : interrupt_(interrupt) {}

  Time now() const { return now_; }

  /// Schedules `action(subject, argument)` for `when`, which must not lie before now() (asserted).
  /// At equal (time, phase), first scheduled fires first.
  EventHandle at(Time when, Phase phase, EventAction action, void* subject, std::uint64_t argument = 0);
  EventHandle after(Duration delay, Phase phase, EventAction action, void* subject, std::uint64_t argument = 0) {
    return at(now_ + delay, phase, action, subject, argument);
  }

  /// Takes a pending event back. False, and harmless, if it has fired, was cancelled or was never scheduled.
  bool cancel(EventHandle handle) { return queue_.cancel(handle); }

  /// Fires events until one lies at or after `end`; then now() is `end`. May be called again with a later end.
  StopReason run(Time end);

  /// Makes run() return after the current event.
  void stop() { stopped_ = true; }

  std::uint64_t events_fired() const { return fired_; }

 private:
  void fire(const EventQueue::Event& event);
  [[noreturn]] void throw_zero_time_loop() const;

  const std::atomic<bool>* interrupt_;
  EventQueue queue_;
  Time now_ = kRunStart;
  std::uint64_t fired_ = 0;
  std::uint64_t fired_at_now_ = 0;
  std::uint64_t recent_phases_ = 0;  ///< of the last eight events, a byte each, newest lowest
  bool stopped_ = false;
};

}  // namespace corun

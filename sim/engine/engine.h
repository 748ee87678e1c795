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

  /// For an action that would end by scheduling an event: whether that event would be the very next one. Then it has
  /// fired, is counted, and the caller does at once what it would have done: now() is `when`. False, and nothing has
  /// happened, where another event comes before, also at the same (time, phase), or run() returns before.
  bool goes_on(Time when, Phase phase) {
    const bool is_next = when < end_ && !stopped_ && !is_step_by_step_ && queue_.would_be_first(when, phase);
    if (!is_next || is_interrupted()) return false;
    enter(when, phase);
    return true;
  }
  /// As an event of Phase::kDecide at now() whose action does nothing: it fires, and is counted, as ever, but enters no
  /// queue. Returns its name; is_idle_pending() says whether it has not fired yet, and cancel_idle() takes it back.
  std::uint64_t add_idle() {
    ++idle_;
    return idle_fired_;
  }
  bool is_idle_pending(std::uint64_t name) const { return idle_ > 0 && name == idle_fired_; }
  void cancel_idle() { --idle_; }

  /// From now on every event is scheduled, and nothing is put off to a later one. For tests: nothing else differs.
  void go_step_by_step() { is_step_by_step_ = true; }
  bool is_step_by_step() const { return is_step_by_step_; }

  /// Takes a pending event back. False, and harmless, if it has fired, was cancelled or was never scheduled.
  bool cancel(EventHandle handle) { return queue_.cancel(handle); }

  /// Fires events until one lies at or after `end`; then now() is `end`. May be called again with a later end.
  StopReason run(Time end);

  /// As run() of everything up to `last` and at it, but now() stays at the last event.
  StopReason run_through(Time last) { return fire_before(last + Duration{1}); }

  /// Fires what is pending at now(), up to events of that phase.
  void run_now(Phase last);

  /// Moves on to `when`, before which nothing is pending (asserted).
  void wait_until(Time when);

  /// Makes run() return after the current event.
  void stop() { stopped_ = true; }

  /// Of the earliest pending event; kNever if there is none.
  Time next_time() { return idle_ > 0 ? now_ : queue_.next_time(); }

  std::uint64_t events_fired() const { return fired_; }
  std::uint64_t events_fired_now() const { return fired_at_now_; }  ///< of them, at the present instant

 private:
  bool is_interrupted() const { return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed); }
  StopReason fire_before(Time end);
  void fire_next();
  void fire_idle();
  void enter(Time when, Phase phase);
  [[noreturn]] void throw_zero_time_loop() const;

  const std::atomic<bool>* interrupt_;
  EventQueue queue_;
  Time now_ = kRunStart;
  Time end_ = kRunStart;  ///< of the present run()
  std::uint64_t fired_ = 0;
  std::uint64_t fired_at_now_ = 0;
  std::uint64_t recent_phases_ = 0;  ///< of the last eight events, a byte each, newest lowest
  std::uint64_t idle_ = 0;           ///< idle events that are pending, all of the present instant
  std::uint64_t idle_fired_ = 0;     ///< how often such events have fired together
  bool stopped_ = false;
  bool is_step_by_step_ = false;
};

inline void Engine::enter(Time when, Phase phase) {
  CORUN_ASSERT(when >= now_, "time went back from {} ns to {} ns", to_ns(now_), to_ns(when));
  if (idle_ > 0 && (when > now_ || phase > Phase::kDecide)) fire_idle();
  if (when > now_) fired_at_now_ = 0;
  now_ = when;
  ++fired_;
  recent_phases_ = recent_phases_ << 8 | static_cast<std::uint8_t>(phase);
  if (++fired_at_now_ > kMaxEventsPerInstant) throw_zero_time_loop();
}

inline void Engine::fire_idle() {
  fired_ += idle_;
  fired_at_now_ += idle_;
  idle_ = 0;
  ++idle_fired_;
}

}  // namespace corun

#include "sim/engine/engine.h"

#include "traces/base/error.h"

namespace corun {

namespace {

std::string_view phase_name(std::uint8_t phase) {
  switch (static_cast<Phase>(phase)) {
    case Phase::kCompletion:
      return "completion";
    case Phase::kArrival:
      return "arrival";
    case Phase::kTimer:
      return "timer";
    case Phase::kDecide:
      return "decide";
    case Phase::kSample:
      return "sample";
  }
  return "unknown";
}

}  // namespace

EventHandle Engine::at(Time when, Phase phase, EventAction action, void* subject, std::uint64_t argument) {
  CORUN_ASSERT(when >= now_, "an event for {} ns was scheduled at {} ns", to_ns(when), to_ns(now_));
  CORUN_ASSERT(action != nullptr, "an event without an action was scheduled at {} ns", to_ns(now_));
  return queue_.push(when, phase, action, subject, argument);
}

StopReason Engine::run(Time end) {
  const StopReason reason = fire_before(end);
  if (reason == StopReason::kHorizon && end > now_) now_ = end;
  return reason;
}

void Engine::wait_until(Time when) {
  CORUN_ASSERT(when >= now_ && when <= next_time(), "from {} ns to {} ns, past an event", to_ns(now_), to_ns(when));
  if (when > now_) fired_at_now_ = 0;
  now_ = when;
}

void Engine::run_now(Phase last) {
  stopped_ = false;
  end_ = now_ + Duration{1};
  while (!queue_.would_be_first(now_, last)) fire_next();
  if (last >= Phase::kDecide) fire_idle();
}

inline void Engine::fire_next() {
  if (is_interrupted()) throw Interrupted{};
  const EventQueue::Event event = queue_.pop();
  enter(event.time, event.phase);
  event.action(event.subject, event.argument);
}

StopReason Engine::fire_before(Time end) {
  stopped_ = false;
  end_ = end;
  while (queue_.next_time() < end) {
    fire_next();
    if (stopped_) return StopReason::kStopped;
  }
  if (idle_ > 0) fire_idle();
  return queue_.empty() ? StopReason::kDrained : StopReason::kHorizon;
}

void Engine::throw_zero_time_loop() const {
  std::string phases;
  for (int back = 7; back >= 0; --back) {
    if (!phases.empty()) phases += ", ";
    phases += phase_name(static_cast<std::uint8_t>(recent_phases_ >> (8 * back)));
  }
  throw Error(ErrorKind::kPolicy, {},
              fmt::format("{} events fired at {} ns and time does not move on; the last were: {}", fired_at_now_,
                          to_ns(now_), phases),
              "a policy that wakes itself for the present instant again and again is the usual cause");
}

}  // namespace corun

#pragma once

// The event queue as one would write it first, found in place of the project's by the programs that are built with this
// folder in front: a map sorted by (time, phase, sequence), nothing reused and nothing clever. Same names, same
// promises.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "traces/base/error.h"
#include "traces/base/time.h"

namespace corun {

enum class Phase : std::uint8_t { kCompletion = 0, kArrival = 1, kTimer = 2, kDecide = 3, kSample = 4 };

using EventAction = void (*)(void* subject, std::uint64_t argument);

struct EventHandle {
  std::uint64_t sequence = UINT64_MAX;
};

class EventQueue {
 public:
  struct Event {
    Time time;
    Phase phase;
    EventAction action;
    void* subject;
    std::uint64_t argument;
  };

  EventHandle push(Time time, Phase phase, EventAction action, void* subject, std::uint64_t argument) {
    events_[{time, phase, next_}] = {time, phase, action, subject, argument};
    return {next_++};
  }
  bool cancel(EventHandle handle) {
    for (auto event = events_.begin(); event != events_.end(); ++event)
      if (std::get<2>(event->first) == handle.sequence) return events_.erase(event), true;
    return false;
  }
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  Time next_time() const { return events_.empty() ? kNever : events_.begin()->second.time; }
  Event pop() { return events_.extract(events_.begin()).mapped(); }
  bool would_be_first(Time time, Phase phase) const {
    return events_.empty() || std::tuple(time, phase, next_) < events_.begin()->first;
  }

 private:
  std::map<std::tuple<Time, Phase, std::uint64_t>, Event> events_;
  std::uint64_t next_ = 0;
};

}  // namespace corun

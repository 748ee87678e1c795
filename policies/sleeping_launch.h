#pragma once

#include <cstdint>

#include "traces/base/time.h"

namespace corun {

/// A launch call that found its gate shut and sleeps: it looks again every `retry`, counted from its first look, as a
/// hook does that waits in a loop. With a retry of zero it looks at every instant (it is woken by events).
///
/// One per client: a host is inside at most one launch call at a time. A launch that never slept looks at once.
class SleepingLaunch {
 public:
  /// Whether launch `number` looks at the gate at `now`.
  bool looks(std::uint64_t number, Time now, Duration retry) const {
    return number != number_ || retry == Duration::zero() || (now - first_look_) % retry == Duration::zero();
  }

  /// It looked and found the gate shut.
  void sleep(std::uint64_t number, Time now) {
    if (number == number_) return;
    number_ = number;
    first_look_ = now;
  }

  /// The next look of the sleeping launch, later than `now`. `retry` is positive.
  Time next_look(Time now, Duration retry) const { return now + (retry - (now - first_look_) % retry); }

 private:
  std::uint64_t number_ = UINT64_MAX;
  Time first_look_;
};

}  // namespace corun

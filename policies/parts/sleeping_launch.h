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
    return number != number_ || retry == Duration::zero() || look_from(now, retry) == now;
  }

  /// It looked and found the gate shut.
  void sleep(std::uint64_t number, Time now) {
    if (number == number_) return;
    number_ = number;
    look_ = now;
  }

  /// The next look of the sleeping launch, later than `now`. `retry` is positive.
  Time next_look(Time now, Duration retry) const {
    const Time look = look_from(now, retry);
    return look > now ? look : look + retry;
  }

 private:
  /// The earliest look at `now` or later.
  Time look_from(Time now, Duration retry) const {
    if (look_ < now) look_ += (now - look_ + retry - Duration{1}) / retry * retry;
    return look_;
  }

  std::uint64_t number_ = UINT64_MAX;
  mutable Time look_;  // one of its looks: the newest that was asked about; times asked about do not decrease
};

}  // namespace corun

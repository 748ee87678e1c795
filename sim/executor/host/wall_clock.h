#pragma once

#include <time.h>

#include "traces/base/time.h"

namespace corun::executor {

/// CLOCK_MONOTONIC as the time of a run that begins when the clock is made.
class WallClock {
 public:
  static std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
  }

  Time now() const { return at(monotonic_ns()); }
  Duration elapsed() const { return now() - kRunStart; }
  /// The instant of the run at which CLOCK_MONOTONIC showed this.
  Time at(std::int64_t shown_ns) const { return kRunStart + Duration{shown_ns - origin_ns_}; }

 private:
  std::int64_t origin_ns_ = monotonic_ns();
};

}  // namespace corun::executor

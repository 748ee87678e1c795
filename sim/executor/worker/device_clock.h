#pragma once

#include <cstdint>

#include "sim/executor/host/wall_clock.h"

namespace corun::executor {

/// What CLOCK_MONOTONIC shows beyond a device's clock, and half of the round trip by which that is known.
struct ClockOffset {
  std::int64_t ns = 0;
  std::int64_t error_ns = INT64_MAX;
};

/// Asks a device for its time again and again and takes the shortest round trip. `ask` returns once the device has
/// answered, with the nanoseconds that its clock showed.
template <class Ask>
ClockOffset measure_clock(Ask ask) {
  constexpr int kTrials = 64;
  ClockOffset found;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::int64_t before = WallClock::monotonic_ns();
    const auto shown = static_cast<std::int64_t>(ask());
    const std::int64_t half = (WallClock::monotonic_ns() - before) / 2;
    if (half < found.error_ns) found = {before + half - shown, half};
  }
  return found;
}

}  // namespace corun::executor

#pragma once

#include <cmath>

#include "traces/base/time.h"

namespace corun {

/// A duration times a factor, to the nearest nanosecond.
inline Duration scaled(Duration duration, double factor) {
  if (factor == 1.0) return duration;
  return Duration{std::llround(static_cast<double>(to_ns(duration)) * factor)};
}

}  // namespace corun

#pragma once

#include <cstdint>

#include "traces/base/error.h"
#include "traces/base/time.h"

namespace corun {

/// Work of an operation in units of 2^-20 ns at full rate, so that fractional rates need no floating point and an
/// operation at full rate ends at its exact nanosecond.
using Work = std::int64_t;

/// Work per nanosecond, 0 to kFullRate.
using Rate = std::int64_t;

inline constexpr int kRateBits = 20;
inline constexpr Rate kFullRate = Rate{1} << kRateBits;

/// The longest operation a device takes: 2^42 ns, 73 minutes.
inline constexpr Duration kLongestOp{std::int64_t{1} << 42};

inline Work work_of(Duration duration) {
  CORUN_ASSERT(duration >= Duration{} && duration <= kLongestOp, "an operation of {} ns", to_ns(duration));
  return to_ns(duration) << kRateBits;
}

/// Time that `work` takes at `rate`, rounded up; `rate` > 0.
inline Duration time_for(Work work, Rate rate) {
  if (rate == kFullRate) return Duration{(work + kFullRate - 1) >> kRateBits};
  return Duration{(work + rate - 1) / rate};
}

/// A fraction of full rate, in (0, 1]; never 0.
inline Rate rate_at(double fraction) {
  const auto rate = static_cast<Rate>(fraction * static_cast<double>(kFullRate));
  return rate > 0 ? rate : 1;
}

/// `rate` on something that itself goes at `pace`. Positive inputs stay positive.
inline Rate scaled(Rate rate, Rate pace) {
  if (rate == 0 || pace == 0) return 0;
  const Rate product = (rate * pace) >> kRateBits;
  return product > 0 ? product : 1;
}

}  // namespace corun

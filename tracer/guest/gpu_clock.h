#pragma once

#include <cstdint>

namespace corun::guest {

/// One reading of two clocks at the same instant.
struct ClockReading {
  std::int64_t gpu_ns = 0;        ///< the GPU's clock, already in nanoseconds and unwrapped
  std::int64_t monotonic_ns = 0;  ///< middle of the bracket
  std::int64_t width_ns = 0;      ///< of the bracket: the instant is known to half of it
};

/// Takes times of a GPU's clock to CLOCK_MONOTONIC by a straight line through neighbouring readings.
///
/// Between two readings it interpolates; behind the last it goes on with the slope of the last two (with slope 1 until
/// there are two), so a time is best converted after the next reading. Readings are kept for the last kKept.
/// One thread at a time.
class GpuClock {
 public:
  void add(const ClockReading& reading);
  bool has_reading() const { return count_ > 0; }
  /// Latest GPU time up to which conversions are interpolated; INT64_MIN without a reading.
  std::int64_t known_until() const;
  std::int64_t to_monotonic(std::int64_t gpu_ns) const;
  /// Half the width of the worse of the two readings used for this time.
  std::int64_t error_ns(std::int64_t gpu_ns) const;

  static constexpr int kKept = 16;

 private:
  int segment(std::int64_t gpu_ns) const;
  ClockReading readings_[kKept];
  int count_ = 0;
};

}  // namespace corun::guest

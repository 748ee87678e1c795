#include "tracer/guest/gpu_clock.h"

#include <string.h>

namespace corun::guest {

void GpuClock::add(const ClockReading& reading) {
  // A clock that went back (device reset, another context) starts over.
  if (count_ > 0 && reading.gpu_ns <= readings_[count_ - 1].gpu_ns) count_ = 0;
  if (count_ == kKept) memmove(readings_, readings_ + 1, sizeof(readings_[0]) * --count_);
  readings_[count_++] = reading;
}

std::int64_t GpuClock::known_until() const { return count_ == 0 ? INT64_MIN : readings_[count_ - 1].gpu_ns; }

// First reading of the pair whose line serves this time: the pair around it, else the nearest.
int GpuClock::segment(std::int64_t gpu_ns) const {
  int first = 0;
  while (first + 2 < count_ && readings_[first + 1].gpu_ns <= gpu_ns) ++first;
  return first;
}

std::int64_t GpuClock::to_monotonic(std::int64_t gpu_ns) const {
  if (count_ == 0) return gpu_ns;
  const ClockReading& a = readings_[segment(gpu_ns)];
  if (count_ == 1) return a.monotonic_ns + (gpu_ns - a.gpu_ns);
  const ClockReading& b = readings_[segment(gpu_ns) + 1];
  const double slope = static_cast<double>(b.monotonic_ns - a.monotonic_ns) / static_cast<double>(b.gpu_ns - a.gpu_ns);
  return a.monotonic_ns + static_cast<std::int64_t>(static_cast<double>(gpu_ns - a.gpu_ns) * slope);
}

std::int64_t GpuClock::error_ns(std::int64_t gpu_ns) const {
  if (count_ == 0) return INT64_MAX;
  const int first = segment(gpu_ns);
  const std::int64_t a = readings_[first].width_ns;
  const std::int64_t b = count_ > 1 ? readings_[first + 1].width_ns : a;
  return (a > b ? a : b) / 2;
}

}  // namespace corun::guest

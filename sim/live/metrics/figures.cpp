#include "sim/live/metrics/figures.h"

namespace corun::live {

namespace {

/// `steps` repeated for each decade from `first` on, and the begin of the decade after the last.
template <std::size_t kSteps, std::size_t kDecades>
std::array<Duration, kSteps * kDecades + 1> bounds(Duration first, const std::array<int, kSteps>& steps) {
  std::array<Duration, kSteps * kDecades + 1> made;
  auto at = made.begin();
  for (std::size_t decade = 0; decade < kDecades; ++decade, first *= 10)
    for (const int step : steps) *at++ = first * step / steps.front();
  *at = first;
  return made;
}

}  // namespace

std::span<const Duration> frame_time_bounds() {
  static const auto kBounds = bounds<12, 3>(std::chrono::milliseconds{1}, std::array{10, 12, 15, 18, 22, 27,  //
                                                                                     33, 39, 47, 56, 68, 82});
  return kBounds;
}

std::span<const Duration> wait_bounds() {
  static const auto kBounds = bounds<3, 8>(std::chrono::microseconds{1}, std::array{1, 2, 5});
  return kBounds;
}

}  // namespace corun::live

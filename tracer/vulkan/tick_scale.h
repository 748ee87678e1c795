#pragma once

#include <cstdint>

namespace corun::vulkan {

/// Takes a device's timestamp counter to nanoseconds since the first value it was given.
///
/// A counter has 36 to 64 valid bits, another number for every queue family, and wraps; a value is taken as the one
/// nearest to the reference, so the reference must follow the counter more often than half its period (17 s for 32
/// bits of nanoseconds). Ticks are scaled in double: exact to a nanosecond for 104 days. One thread at a time.
class TickScale {
 public:
  /// `period_ns` is VkPhysicalDeviceLimits::timestampPeriod.
  void start(double period_ns, std::uint64_t ticks);
  /// Moves the reference to a newer value.
  void follow(std::uint64_t ticks, std::uint32_t valid_bits);
  std::int64_t to_ns(std::uint64_t ticks, std::uint32_t valid_bits) const;

 private:
  std::int64_t unwrap(std::uint64_t ticks, std::uint32_t valid_bits) const;

  double period_ns_ = 0;
  std::uint64_t reference_ = 0;       // as the counter gave it
  std::int64_t reference_ticks_ = 0;  // since the start, unwrapped
};

}  // namespace corun::vulkan

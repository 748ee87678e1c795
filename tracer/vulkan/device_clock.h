#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

#include "tracer/guest/gpu_clock.h"
#include "tracer/vulkan/tick_scale.h"

namespace corun::vulkan {

/// Takes a device's timestamps to CLOCK_MONOTONIC by calibrated readings of both clocks (VK_EXT_calibrated_timestamps):
/// the first when the recording begins, one at the first present after every kEvery, one at the end.
///
/// A device without that extension has no clock: its visits have no GPU times. sample() asks the driver and may run
/// at the same time as everything else; all other members are for one thread at a time.
class DeviceClock {
 public:
  struct Sample {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic_ns = 0;
    std::uint64_t deviation_ns = 0;
    VkResult result = VK_NOT_READY;
  };
  static constexpr std::int64_t kEvery = 250'000'000;

  /// `get` null: no clock. `valid_bits` are the most that any queue family has. Asks the driver for nothing yet.
  void start(VkDevice device, PFN_vkGetCalibratedTimestampsEXT get, double period_ns, std::uint32_t valid_bits);
  /// True once a reading was added.
  bool is_usable() const { return clock_.has_reading(); }

  /// True once every kEvery: the caller is then to add() a sample().
  bool claim_reading(std::int64_t now_ns);
  Sample sample() const;
  void add(const Sample& sample);

  /// A timestamp of a query in the clock's own nanoseconds.
  std::int64_t gpu_ns(std::uint64_t ticks, std::uint32_t valid_bits) const { return scale_.to_ns(ticks, valid_bits); }
  const guest::GpuClock& clock() const { return clock_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  PFN_vkGetCalibratedTimestampsEXT get_ = nullptr;
  double period_ns_ = 0;
  std::uint32_t valid_bits_ = 0;
  std::int64_t next_reading_ns_ = 0;
  TickScale scale_;
  guest::GpuClock clock_;
};

}  // namespace corun::vulkan

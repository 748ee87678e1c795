#include "tracer/vulkan/device_clock.h"

namespace corun::vulkan {
namespace {

constexpr int kTries = 3;
constexpr std::uint64_t kGoodDeviationNs = 10'000;

}  // namespace

void DeviceClock::start(VkDevice device, PFN_vkGetCalibratedTimestampsEXT get, double period_ns,
                        std::uint32_t valid_bits) {
  device_ = device;
  get_ = get;
  period_ns_ = period_ns;
  valid_bits_ = valid_bits;
}

bool DeviceClock::claim_reading(std::int64_t now_ns) {
  if (get_ == nullptr || now_ns < next_reading_ns_) return false;
  next_reading_ns_ = now_ns + kEvery;
  return true;
}

// An interrupt between the two clocks makes a reading wide: the best of a few.
DeviceClock::Sample DeviceClock::sample() const {
  constexpr VkCalibratedTimestampInfoEXT kClocks[2] = {
      {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_DEVICE_EXT},
      {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
  Sample best;
  for (int i = 0; i < kTries && get_ != nullptr; ++i) {
    std::uint64_t times[2] = {};
    std::uint64_t deviation = 0;
    const VkResult result = get_(device_, 2, kClocks, times, &deviation);
    if (result != VK_SUCCESS) return {0, 0, 0, result};
    if (i == 0 || deviation < best.deviation_ns) best = {times[0], times[1], deviation, result};
    if (deviation <= kGoodDeviationNs) break;
  }
  return best;
}

void DeviceClock::add(const Sample& sample) {
  if (sample.result != VK_SUCCESS) return;
  if (clock_.has_reading()) {
    scale_.follow(sample.ticks, valid_bits_);
  } else {
    scale_.start(period_ns_, sample.ticks);
  }
  const auto width = static_cast<std::int64_t>(2 * sample.deviation_ns);
  clock_.add({scale_.to_ns(sample.ticks, valid_bits_), static_cast<std::int64_t>(sample.monotonic_ns), width});
}

}  // namespace corun::vulkan

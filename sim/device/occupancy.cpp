#include "sim/device/occupancy.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr double kMemoryOpFraction = 1.0 / 16;
constexpr double kRounding = 1e-9;

SmShare share_of(double fraction) {
  return std::max<SmShare>(1, static_cast<SmShare>(fraction * static_cast<double>(kAllSms)));
}

bool is_memory_op(OpKind kind) { return kind == OpKind::kMemset || kind == OpKind::kCopyDeviceToDevice; }

/// How often a kernel's blocks fill a part of the device.
struct Waves {
  double full = 0;
  double tail_speed = 0;   ///< throughput of the last, partial one, of the part's; 0 = there is none
  double tail_length = 0;  ///< in full waves: slower than its blocks, faster than a full wave
  double length() const { return full + tail_length; }
};

/// Blocks go to empty SMs first, so few of them lie one on each.
double tail_speed_of(const DeviceSpec& spec, double filled, double blocks_per_sm) {
  const double touched = std::min(1.0, filled * blocks_per_sm);
  return std::pow(touched, spec.sm_rate_exponent) * std::pow(filled / touched, spec.sm_fill_exponent);
}

Waves waves_of(const DeviceSpec& spec, std::uint64_t blocks, std::uint64_t capacity, double fraction) {
  Waves waves;
  double filled = 0;
  if (fraction == 1.0) {
    waves.full = static_cast<double>(blocks / capacity);
    filled = static_cast<double>(blocks % capacity) / static_cast<double>(capacity);
  } else {
    const double exact = static_cast<double>(blocks) / (static_cast<double>(capacity) * fraction);
    waves.full = std::floor(exact + kRounding);
    filled = std::max(0.0, exact - waves.full);
  }
  if (filled <= kRounding) return waves;
  waves.tail_speed = tail_speed_of(spec, filled, static_cast<double>(capacity / spec.sm_count));
  waves.tail_length = filled / waves.tail_speed;
  return waves;
}

}  // namespace

std::uint64_t resident_blocks(const DeviceSpec& spec, const LaunchShape& shape) {
  const std::uint64_t threads = shape.threads_per_block();
  if (threads == 0 || shape.blocks() == 0) return 0;
  std::uint64_t per_sm = std::min<std::uint64_t>(spec.max_blocks_per_sm, spec.max_threads_per_sm / threads);
  if (shape.registers_per_thread > 0) {
    per_sm = std::min(per_sm, spec.registers_per_sm / (threads * shape.registers_per_thread));
  }
  if (shape.shared_memory_bytes > 0) {
    per_sm = std::min<std::uint64_t>(per_sm, spec.shared_memory_per_sm_bytes / shape.shared_memory_bytes);
  }
  return per_sm * spec.sm_count;
}

Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction) {
  if (fraction == 0) return {};
  if (is_memory_op(kind)) {
    const SmShare share = share_of(std::min(1.0, kMemoryOpFraction / fraction));
    return {share, share, 0, {}};
  }
  const std::uint64_t capacity = kind == OpKind::kKernel ? resident_blocks(spec, shape) : 0;
  if (capacity == 0) return {};
  const Waves on_device = waves_of(spec, shape.blocks(), capacity, 1.0);
  const Waves waves = fraction == 1.0 ? on_device : waves_of(spec, shape.blocks(), capacity, fraction);
  Occupancy occupancy;
  const double blocks_in_turn = on_device.full > 0 ? on_device.length() : 1.0;
  occupancy.wave = time_for(static_cast<Work>(static_cast<double>(work) / blocks_in_turn), kFullRate);
  if (waves.tail_speed == 0) return occupancy;
  occupancy.tail = share_of(waves.tail_speed);
  if (waves.full == 0) {
    occupancy.body = occupancy.tail;
  } else {
    occupancy.tail_work = static_cast<Work>(static_cast<double>(work) * waves.tail_length / waves.length());
  }
  return occupancy;
}

Rate speed_on(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, double fraction) {
  if (fraction == 1.0) return kFullRate;
  const std::uint64_t capacity = kind == OpKind::kKernel ? resident_blocks(spec, shape) : 0;
  double speed = fraction;
  if (is_memory_op(kind)) {
    speed = fraction / kMemoryOpFraction;
  } else if (capacity > 0 && fraction > 0) {
    speed = waves_of(spec, shape.blocks(), capacity, 1.0).length() /
            waves_of(spec, shape.blocks(), capacity, fraction).length();
  }
  return static_cast<Rate>(std::llround(std::min(1.0, speed) * static_cast<double>(kFullRate)));
}

}  // namespace corun

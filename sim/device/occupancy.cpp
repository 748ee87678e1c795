#include "sim/device/occupancy.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr std::uint64_t kMostBytesWithoutSms = 4096, kBytesOfThread = 16;
constexpr std::uint32_t kMemoryOpThreads = 512;
constexpr double kRounding = 1e-9;

/// So many times of a block before a kernel's end its last block is dispatched.
constexpr double kDrain = 0.65;

SmShare share_of(double fraction) {
  return std::max<SmShare>(1, static_cast<SmShare>(fraction * static_cast<double>(kAllSms)));
}

bool needs_no_sm(OpKind kind, const LaunchShape& shape) { return is_device_memory_op(kind) && shape.blocks() == 0; }

/// Blocks that the device holds at once; 0 = it is filled.
std::uint64_t capacity_for(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape) {
  return kind == OpKind::kKernel || is_device_memory_op(kind) ? resident_blocks(spec, shape) : 0;
}

/// How often a kernel's blocks fill a part of the device.
struct Waves {
  double full = 0;
  double tail = 0;        ///< of the room, that the last, partial one fills; 0 = there is none
  double tail_speed = 1;  ///< its throughput, of the part's
  double tail_time = 0;   ///< of a full wave's
  double count() const { return full + tail; }
  double length() const { return full + tail_time; }
};

/// Of blocks that fill a fraction of the room: they go to empty SMs first, so few of them lie one on each.
double throughput_of(const DeviceSpec& spec, double filled, double blocks_per_sm) {
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
  const auto blocks_per_sm = static_cast<double>(capacity / spec.sm_count);
  waves.tail = filled;
  waves.tail_speed = throughput_of(spec, filled, blocks_per_sm);
  waves.tail_time = std::pow(std::max(filled, 1.0 / blocks_per_sm), 1.0 - spec.sm_fill_exponent);
  return waves;
}

/// Its last wave fills `filled` of the room and has `throughput`, until what is left of it ends in the last `work`.
void drain(Occupancy& occupancy, const DeviceSpec& spec, double work, double filled, double throughput) {
  occupancy.drain_work = static_cast<Work>(work);
  occupancy.drain_room = share_of(filled);
  for (std::size_t step = 0; step < Occupancy::kSteps; ++step) {
    const double left = (static_cast<double>(step) + 0.5) / static_cast<double>(Occupancy::kSteps);
    occupancy.drain_throughput[step] = share_of(throughput * std::pow(left, spec.sm_fill_exponent));
  }
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

LaunchShape shape_on_sms(OpKind kind, const LaunchShape& shape, std::uint64_t bytes) {
  if (!is_device_memory_op(kind)) return shape;
  if (kind == OpKind::kMemset && bytes <= kMostBytesWithoutSms) return {};
  constexpr std::uint64_t kBytesOfBlock = kBytesOfThread * kMemoryOpThreads;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(bytes / kBytesOfBlock, 1, UINT32_MAX);
  return {static_cast<std::uint32_t>(blocks), 1, 1, kMemoryOpThreads, 1, 1, 0, 0};
}

SmShare resident_threads(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape) {
  if (needs_no_sm(kind, shape)) return 0;
  const std::uint64_t capacity = capacity_for(spec, kind, shape);
  if (capacity == 0) return kAllSms;
  const double threads = static_cast<double>(std::min(capacity, shape.blocks())) * shape.threads_per_block();
  return share_of(threads / (static_cast<double>(spec.sm_count) * spec.max_threads_per_sm));
}

SmShare saved_state(SmShare threads) {
  return std::llround(std::sqrt(static_cast<double>(threads) * static_cast<double>(kAllSms)));
}

Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction) {
  Occupancy occupancy;
  if (fraction == 0) return occupancy;
  if (needs_no_sm(kind, shape)) {
    occupancy.room = occupancy.throughput = 0;
    return occupancy;
  }
  const std::uint64_t capacity = capacity_for(spec, kind, shape);
  if (capacity == 0) return occupancy;
  const double waves_on_device = static_cast<double>(shape.blocks()) / static_cast<double>(capacity);
  occupancy.wave = time_for(static_cast<Work>(static_cast<double>(work) / std::max(1.0, waves_on_device)), kFullRate);
  occupancy.blocks_per_sm = static_cast<std::uint32_t>(capacity / spec.sm_count);
  const Waves waves = waves_of(spec, shape.blocks(), capacity, fraction);
  const double last = waves.tail > 0 ? waves.tail : 1.0;
  const bool is_one = waves.count() <= 1.0;
  occupancy.is_one_wave = is_one;
  occupancy.has_few_waves = !is_one && waves.count() < 2.0;
  if (is_one) {
    occupancy.room = share_of(last);
    occupancy.throughput = share_of(waves.tail_speed);
  }
  const double drained = is_one ? spec.one_wave_drain : kDrain / waves.count();
  drain(occupancy, spec, drained * static_cast<double>(work), last, waves.tail_speed);
  return occupancy;
}

Rate speed_on(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work, double fraction) {
  if (fraction == 1.0) return kFullRate;
  if (needs_no_sm(kind, shape)) return fraction > 0 ? kFullRate : 0;
  const std::uint64_t capacity = capacity_for(spec, kind, shape);
  double speed = fraction;
  if (capacity > 0 && fraction > 0) {
    const double overhead =
        std::min(1.0, static_cast<double>(work_of(spec.kernel_overhead)) / static_cast<double>(work));
    const double longer = waves_of(spec, shape.blocks(), capacity, fraction).length() /
                          waves_of(spec, shape.blocks(), capacity, 1.0).length();
    speed = 1.0 / (overhead + (1.0 - overhead) * std::max(1.0, longer));
  }
  return static_cast<Rate>(std::llround(std::min(1.0, speed) * static_cast<double>(kFullRate)));
}

}  // namespace corun

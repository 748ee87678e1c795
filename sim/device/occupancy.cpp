#include "sim/device/occupancy.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr SmShare kMemoryOpShare = kAllSms / 16;

SmShare share_of(double fraction) {
  return std::max<SmShare>(1, static_cast<SmShare>(fraction * static_cast<double>(kAllSms)));
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

Occupancy occupancy_of(const DeviceSpec& spec, OpKind kind, const LaunchShape& shape, Work work) {
  if (kind == OpKind::kMemset || kind == OpKind::kCopyDeviceToDevice) return {kMemoryOpShare, kMemoryOpShare, 0};
  const std::uint64_t capacity = kind == OpKind::kKernel ? resident_blocks(spec, shape) : 0;
  if (capacity == 0) return {};
  const std::uint64_t full_waves = shape.blocks() / capacity;
  const std::uint64_t rest = shape.blocks() % capacity;
  if (rest == 0) return {};
  const double filled = static_cast<double>(rest) / static_cast<double>(capacity);
  const double speed = std::pow(filled, spec.sm_rate_exponent);
  const SmShare tail = share_of(speed);
  if (full_waves == 0) return {tail, tail, 0};
  const double tail_waves = filled / speed;  // a partial wave is slower than its blocks, faster than a full wave
  const double tail_work = static_cast<double>(work) * tail_waves / (static_cast<double>(full_waves) + tail_waves);
  return {kAllSms, tail, static_cast<Work>(tail_work)};
}

}  // namespace corun

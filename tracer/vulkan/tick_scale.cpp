#include "tracer/vulkan/tick_scale.h"

namespace corun::vulkan {

void TickScale::start(double period_ns, std::uint64_t ticks) {
  period_ns_ = period_ns;
  reference_ = ticks;
  reference_ticks_ = 0;
}

void TickScale::follow(std::uint64_t ticks, std::uint32_t valid_bits) {
  reference_ticks_ = unwrap(ticks, valid_bits);
  reference_ = ticks;
}

std::int64_t TickScale::to_ns(std::uint64_t ticks, std::uint32_t valid_bits) const {
  return static_cast<std::int64_t>(static_cast<double>(unwrap(ticks, valid_bits)) * period_ns_);
}

std::int64_t TickScale::unwrap(std::uint64_t ticks, std::uint32_t valid_bits) const {
  // Shifted to the top of the word, the difference keeps its valid bits only and brings its sign along.
  const std::uint32_t unused = valid_bits >= 64 ? 0 : 64 - valid_bits;
  return reference_ticks_ + (static_cast<std::int64_t>((ticks - reference_) << unused) >> unused);
}

}  // namespace corun::vulkan

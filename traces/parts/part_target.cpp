#include "traces/parts/part_target.h"

#include <algorithm>

namespace corun {

void Window::include(std::int64_t ns) {
  if (!Window{}.holds(ns)) return;
  from_ns = std::min(from_ns, ns);
  to_ns = std::max(to_ns, ns);
}

void add_span(std::int64_t& sum_ns, std::int64_t span_ns) {
  constexpr std::int64_t kMostNs = INT64_MAX / 4;
  sum_ns = std::min(sum_ns + std::clamp<std::int64_t>(span_ns, 0, kMostNs), kMostNs);
}

void Activity::add(std::uint64_t process, std::uint64_t context, std::uint32_t device, std::int64_t from_ns,
                   std::int64_t to_ns) {
  const auto span = spans_.try_emplace({process, context, device}, Window{from_ns, to_ns}).first;
  span->second.include(from_ns);
  span->second.include(to_ns);
}

bool Activity::has_overlap() const {
  for (auto a = spans_.begin(); a != spans_.end(); ++a) {
    for (auto b = std::next(a); b != spans_.end(); ++b) {
      const std::uint32_t one = std::get<2>(a->first), other = std::get<2>(b->first);
      const bool may_share = one == other || one == kAnyDevice || other == kAnyDevice;
      if (may_share && a->second.from_ns < b->second.to_ns && b->second.from_ns < a->second.to_ns) return true;
    }
  }
  return false;
}

}  // namespace corun

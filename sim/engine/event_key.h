#pragma once

#include <cstdint>

namespace corun {

/// Where a pending event stands in the order of all.
struct EventKey {
  std::int64_t time_ns = INT64_MAX;
  std::uint64_t order = UINT64_MAX;  ///< phase, sequence and slot, from the top: 3, 37 and 24 bits
};

inline bool before(const EventKey& a, const EventKey& b) {
  using Both = unsigned __int128;  // one comparison without a branch; times of a run are not negative
  return (Both{static_cast<std::uint64_t>(a.time_ns)} << 64 | a.order) <
         (Both{static_cast<std::uint64_t>(b.time_ns)} << 64 | b.order);
}

}  // namespace corun

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace corun {

/// Max-min fair shares of `capacity` between demands of equal weight, in whole units.
///
/// Nobody gets more than it demands; whoever gets less gets as much as anybody (to one unit); all of the capacity is
/// given out unless every demand is met. Demands and capacity are >= 0. O(n log n).
std::vector<std::int64_t> max_min_shares(std::span<const std::int64_t> demands, std::int64_t capacity);

}  // namespace corun

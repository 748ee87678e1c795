#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace corun {

/// Max-min fair shares of `capacity` between demands of equal weight, in whole units.
///
/// No share exceeds its demand; a share below its demand is as large as any other (to one unit); the whole capacity is
/// given out unless every demand is met. Demands and capacity are >= 0. O(n log n).
std::vector<std::int64_t> max_min_shares(std::span<const std::int64_t> demands, std::int64_t capacity);

}  // namespace corun

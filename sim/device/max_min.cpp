#include "sim/device/max_min.h"

#include <algorithm>
#include <numeric>

namespace corun {

std::vector<std::int64_t> max_min_shares(std::span<const std::int64_t> demands, std::int64_t capacity) {
  std::vector<std::size_t> by_demand(demands.size());
  std::iota(by_demand.begin(), by_demand.end(), std::size_t{0});
  std::stable_sort(by_demand.begin(), by_demand.end(),
                   [&](std::size_t a, std::size_t b) { return demands[a] < demands[b]; });

  std::vector<std::int64_t> shares(demands.size());
  auto waiting = static_cast<std::int64_t>(demands.size());
  for (const std::size_t index : by_demand) {
    const std::int64_t fair = capacity / waiting--;
    shares[index] = std::min(demands[index], fair);
    capacity -= shares[index];
  }
  return shares;
}

}  // namespace corun

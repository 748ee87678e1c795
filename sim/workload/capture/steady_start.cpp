#include "sim/workload/capture/steady_start.h"

#include <algorithm>

namespace corun {

namespace {

constexpr std::size_t kStretch = 60;
constexpr std::size_t kMostSlow = 3;

std::vector<bool> slow_frames(const std::vector<std::int64_t>& lengths_ns) {
  std::vector<std::int64_t> sorted = lengths_ns;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<bool> is_slow;
  for (const std::int64_t length_ns : lengths_ns) is_slow.push_back(length_ns > 2 * *middle);
  return is_slow;
}

}  // namespace

std::size_t steady_start(const std::vector<std::int64_t>& lengths_ns) {
  if (lengths_ns.size() < 2 * kStretch) return 0;
  const std::vector<bool> is_slow = slow_frames(lengths_ns);
  auto slow = static_cast<std::size_t>(std::count(is_slow.begin(), is_slow.begin() + kStretch, true));
  for (std::size_t first = 0; first < lengths_ns.size() / 2; ++first) {
    if (!is_slow[first] && slow <= kMostSlow) return first;
    slow += static_cast<std::size_t>(is_slow[first + kStretch]) - static_cast<std::size_t>(is_slow[first]);
  }
  return 0;
}

}  // namespace corun

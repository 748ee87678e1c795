#pragma once

#include <algorithm>
#include <vector>

namespace corun {

/// Of ranges with `begin_ns` and `end_ns`: those that begin in no other, in order. Of two that begin together the
/// longer one.
template <class Range>
std::vector<Range> outermost(std::vector<Range> ranges) {
  std::ranges::stable_sort(ranges, [](const Range& a, const Range& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::vector<Range> outer;
  for (const Range& range : ranges)
    if (outer.empty() || range.begin_ns >= outer.back().end_ns) outer.push_back(range);
  return outer;
}

}  // namespace corun

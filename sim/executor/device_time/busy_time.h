#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "traces/base/time.h"

namespace corun::executor {

/// Total time in which something was active: the length of the union of intervals, added in any order.
class BusyTime {
 public:
  void add(Time begin, Time end) {
    auto at = ends_.lower_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) --at;
    while (at != ends_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      total_ -= at->second - at->first;
      at = ends_.erase(at);
    }
    ends_.emplace(begin, end);
    total_ += end - begin;
    if (ends_.size() > kMost) ends_.erase(ends_.begin());
  }
  Duration total() const { return total_; }
  Time last_end() const { return ends_.empty() ? kRunStart : std::prev(ends_.end())->second; }

 private:
  static constexpr std::size_t kMost = 1 << 16;  // nothing that is reported now began before so many gaps
  std::map<Time, Time> ends_;                    ///< by start; disjoint
  Duration total_{};
};

}  // namespace corun::executor

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corun::record {

/// CLOCK_MONOTONIC.
inline std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What was read of a counter while a recording ran, in order of time (`at_ns`, CLOCK_MONOTONIC), fewer than `kMost`:
/// of a long recording every second reading is dropped, again and again.
template <class Reading, std::size_t kMost>
class ReadingLog {
 public:
  void add(const Reading& reading) {
    readings_.push_back(reading);
    if (readings_.size() < kMost) return;
    std::size_t number = 0;
    std::erase_if(readings_, [&](const Reading&) { return number++ % 2 == 1; });
  }

  /// The readings from one instant to another, both included.
  std::span<const Reading> between(std::int64_t from_ns, std::int64_t to_ns) const {
    const auto first = std::ranges::lower_bound(readings_, from_ns, {}, &Reading::at_ns);
    return {first, std::ranges::upper_bound(first, readings_.end(), to_ns, {}, &Reading::at_ns)};
  }

 private:
  std::vector<Reading> readings_;
};

}  // namespace corun::record

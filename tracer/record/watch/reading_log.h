#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace corun::record {

/// What was read of a counter while a recording ran, in order of time (`at_ns`, CLOCK_MONOTONIC). Of a long recording
/// every second reading is dropped, again and again.
template <class Reading>
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
  static constexpr std::size_t kMost = 32'768;
  std::vector<Reading> readings_;
};

}  // namespace corun::record

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace corun::yardstick {

/// Delays between events, the same for everything that is compared: one of each quantile of an exponential
/// distribution, shuffled.
class Delays {
 public:
  explicit Delays(double mean_ns, std::uint64_t seed = 1) : delays_(kCount) {
    for (std::size_t i = 0; i < kCount; ++i)
      delays_[i] = 1 + std::llround(-std::log((static_cast<double>(i) + 0.5) / kCount) * mean_ns);
    std::shuffle(delays_.begin(), delays_.end(), std::mt19937_64(seed));
  }
  std::int64_t next() { return delays_[next_++ % kCount]; }

 private:
  static constexpr std::size_t kCount = 8192;
  std::vector<std::int64_t> delays_;
  std::size_t next_ = 0;
};

}  // namespace corun::yardstick

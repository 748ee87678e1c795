#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/time.h"

namespace corun::live {

/// Durations counted by upper bounds, of which a monitor computes quantiles over any stretch of time.
class Histogram {
 public:
  /// `bounds` ascend and outlive this. What is longer than the last one is counted, too.
  explicit Histogram(std::span<const Duration> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(Duration value);

  std::span<const Duration> bounds() const { return bounds_; }
  /// Values above the bound before this one and up to it; one more than there are bounds.
  std::span<const std::uint64_t> counts() const { return counts_; }
  std::uint64_t total() const;
  Duration sum() const { return sum_; }

 private:
  std::span<const Duration> bounds_;
  std::vector<std::uint64_t> counts_;
  Duration sum_{};
};

/// The last 1024 durations, for their exact quantiles.
class RecentTimes {
 public:
  static constexpr std::size_t kMost = 1024;

  void add(Duration value);
  bool empty() const { return values_.empty(); }
  /// Nearest rank, as metrics have it. Precondition: not empty.
  Duration quantile(double q) const;

 private:
  std::vector<Duration> values_;
  std::size_t oldest_ = 0;
};

}  // namespace corun::live

#include "sim/live/metrics/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace corun::live {

void Histogram::add(Duration value) {
  const auto bound = std::ranges::lower_bound(bounds_, value);
  ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::uint64_t Histogram::total() const { return std::reduce(counts_.begin(), counts_.end()); }

void RecentTimes::add(Duration value) {
  if (values_.size() < kMost) return values_.push_back(value);
  values_[oldest_] = value;
  oldest_ = (oldest_ + 1) % kMost;
}

Duration RecentTimes::quantile(double q) const {
  std::vector<Duration> values = values_;
  const double rank = std::max(std::ceil(q * static_cast<double>(values.size())), 1.0);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace corun::live

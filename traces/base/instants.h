#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corun {

/// A column of instants in ascending order, four bytes each: the lower half of each, and beside them where the upper
/// half grows, every four seconds.
class Instants {
 public:
  void reserve(std::size_t count) { lower_.reserve(count); }
  /// `ns` must not lie before the last one.
  void push_back(std::int64_t ns) {
    const std::int64_t upper = ns >> 32;
    if (uppers_.empty() || uppers_.back().second != upper) uppers_.emplace_back(lower_.size(), upper);
    lower_.push_back(static_cast<std::uint32_t>(ns));
  }

  std::int64_t operator[](std::size_t index) const {
    const auto behind = std::ranges::upper_bound(uppers_, index, {}, &Upper::first);
    return std::prev(behind)->second * (std::int64_t{1} << 32) + lower_[index];
  }
  std::int64_t front() const { return (*this)[0]; }
  std::int64_t back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return lower_.size(); }
  bool empty() const { return lower_.empty(); }

 private:
  using Upper = std::pair<std::size_t, std::int64_t>;  ///< from this index on

  std::vector<std::uint32_t> lower_;
  std::vector<Upper> uppers_;
};

}  // namespace corun

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "traces/base/column.h"

namespace corun {

/// A column of numbers that nearly always are from 0 to 2^32 - 2: four bytes each. Others are kept apart, by index.
///
/// Times in nanoseconds are such numbers: one in millions takes over four seconds. They are written and read faster
/// than those of a PackedColumn, which takes less memory.
class ShortNumbers {
 public:
  void reserve(std::size_t count) { near_.reserve(count); }
  void push_back(std::int64_t value) {
    if (!is_near(value)) return push_far(value);
    near_.push_back(static_cast<std::uint32_t>(value));
  }

  std::int64_t operator[](std::size_t index) const { return near_[index] == kFar ? far(index) : near_[index]; }
  std::size_t size() const { return near_.size(); }
  bool empty() const { return near_.empty(); }

  /// The number at place `rank` (from 0) of all in ascending order. The column is neither copied nor sorted for it.
  std::int64_t ranked(std::size_t rank) const;

 private:
  static constexpr std::uint32_t kFar = UINT32_MAX;
  using Far = std::vector<std::pair<std::size_t, std::int64_t>>;

  static bool is_near(std::int64_t value) { return value >= 0 && value < kFar; }
  void push_far(std::int64_t value);
  std::int64_t far(std::size_t index) const;
  std::uint32_t ranked_near(std::size_t rank) const;

  Column<std::uint32_t> near_;
  Far far_;  ///< by index
};

}  // namespace corun

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "traces/base/column.h"
#include "traces/base/packed_column.h"

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

/// Numbers of which one is wanted by its rank: exactly, and without keeping each of billions. The newest take four
/// bytes each (ShortNumbers), as many as `most_apart` or a quarter of the different long ones. Beyond, equal ones are
/// counted: those below 2^17 in a table of 1 MiB, longer ones in packed columns.
class RankedNumbers {
 public:
  static constexpr std::size_t kMostApart = std::size_t{1} << 18;

  explicit RankedNumbers(std::size_t most_apart = kMostApart) : most_apart_(most_apart) {}

  void reserve(std::size_t count);
  /// `value` is 0 or more.
  void push_back(std::int64_t value);
  std::size_t size() const { return counted_numbers_ + newest_.size(); }
  bool empty() const { return size() == 0; }
  /// The number at place `rank` (from 0) of all in ascending order.
  std::int64_t ranked(std::size_t rank) const;

 private:
  using Counts = PackedColumn<std::uint64_t>;
  static constexpr std::int64_t kShort = std::int64_t{1} << 17;

  void count_short(std::int64_t value);
  std::vector<std::int64_t> sorted_newest() const;
  void count_newest();
  void count_longer(std::span<const std::int64_t> values);

  std::size_t most_apart_;
  ShortNumbers newest_;                      ///< not counted yet
  std::vector<std::uint64_t> short_counts_;  ///< by number below kShort; empty until the first ones are counted
  Instants longer_;                          ///< numbers from kShort on, ascending
  Counts longer_counts_;                     ///< of these
  std::size_t counted_numbers_ = 0;
};

}  // namespace corun

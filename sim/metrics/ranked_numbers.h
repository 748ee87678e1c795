#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traces/base/packed_column.h"
#include "traces/base/short_numbers.h"

namespace corun {

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

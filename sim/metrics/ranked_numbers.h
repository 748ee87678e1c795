#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/base/short_numbers.h"

namespace corun {

/// Numbers of which one is wanted by its rank: exactly, and without keeping each of billions. Up to `most_apart` take
/// four bytes each (ShortNumbers); beyond, equal ones are counted, at 16 bytes for each different one.
class RankedNumbers {
 public:
  static constexpr std::size_t kMostApart = std::size_t{1} << 20;

  explicit RankedNumbers(std::size_t most_apart = kMostApart) : most_apart_(most_apart) {}

  void reserve(std::size_t count);
  /// `value` is 0 or more.
  void push_back(std::int64_t value);
  std::size_t size() const { return counted_numbers_ + newest_.size(); }
  bool empty() const { return size() == 0; }
  /// The number at place `rank` (from 0) of all in ascending order.
  std::int64_t ranked(std::size_t rank) const;

 private:
  struct Counted {
    std::int64_t value;
    std::uint64_t count;
  };
  std::vector<std::int64_t> sorted_newest() const;
  void count_newest();

  std::size_t most_apart_;
  ShortNumbers newest_;           ///< not counted yet
  std::vector<Counted> counted_;  ///< ascending
  std::size_t counted_numbers_ = 0;
};

}  // namespace corun

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/base/column.h"

namespace corun {

/// A column of instants in ascending order, four bytes each: the lower half of each, and apart from them where the
/// upper half grows, every four seconds. Which upper half a block of instants begins with is known, so that asking for
/// one takes no search, however long the column is.
class Instants {
 public:
  void reserve(std::size_t count) { lower_.reserve(count); }
  /// `ns` must not lie before the last one.
  void push_back(std::int64_t ns) {
    const std::int64_t upper = ns & ~std::int64_t{UINT32_MAX};
    if (lower_.size() % kBlock == 0 || uppers_.back().ns != upper) begin(upper);
    lower_.push_back(static_cast<std::uint32_t>(ns));
  }

  /// Always inline: passes over a capture ask for every instant.
  [[gnu::always_inline]] std::int64_t operator[](std::size_t index) const {
    const Upper& upper = uppers_[upper_of_block_[index / kBlock]];
    return (index < upper.behind ? upper.ns : upper_behind(&upper, index)) + lower_[index];
  }
  std::int64_t front() const { return (*this)[0]; }
  std::int64_t back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return lower_.size(); }
  bool empty() const { return lower_.empty(); }

 private:
  struct Upper {
    std::int64_t ns = 0;
    std::size_t behind = SIZE_MAX;  ///< from this index on it is another
  };
  static constexpr std::size_t kBlock = 64;  ///< at most so many steps through uppers_

  /// Begins a block, or goes on with another upper half, or both.
  void begin(std::int64_t upper_ns);
  /// Of the uppers from this one on, the one of the instant.
  static std::int64_t upper_behind(const Upper* upper, std::size_t index);

  Column<std::uint32_t> lower_;
  std::vector<Upper> uppers_;
  std::vector<std::uint32_t> upper_of_block_;  ///< the place in uppers_ of each block's first instant
};

}  // namespace corun

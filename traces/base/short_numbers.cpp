#include "traces/base/short_numbers.h"

#include <algorithm>
#include <array>
#include <bit>

namespace corun {

void ShortNumbers::push_far(std::int64_t value) {
  far_.emplace_back(near_.size(), value);
  near_.push_back(kFar);
}

std::int64_t ShortNumbers::far(std::size_t index) const {
  return std::ranges::lower_bound(far_, index, {}, &Far::value_type::first)->second;
}

/// Numbers below zero come before all near ones, numbers beyond 32 bits after them.
std::int64_t ShortNumbers::ranked(std::size_t rank) const {
  std::vector<std::int64_t> far;
  for (const auto& [index, value] : far_) far.push_back(value);
  std::ranges::sort(far);
  const auto negative = static_cast<std::size_t>(std::ranges::lower_bound(far, 0) - far.begin());
  const std::size_t near = near_.size() - far_.size();
  if (rank < negative) return far[rank];
  return rank < negative + near ? ranked_near(rank - negative) : far[rank - near];
}

/// Byte by byte from the highest that is not 0 in all of them: those that begin like the one looked for are counted by
/// their next byte.
std::uint32_t ShortNumbers::ranked_near(std::size_t rank) const {
  std::uint32_t bits = 0;  // that any of them has
  for (const std::uint32_t number : near_) bits |= number == kFar ? 0 : number;
  std::uint64_t found = 0;
  for (unsigned shift = (std::bit_width(bits) + 7) / 8 * 8; shift > 0; shift -= 8) {
    std::array<std::size_t, 256> counts{};
    for (const std::uint64_t number : near_)
      if (number >> shift == found && number != kFar) ++counts[number >> (shift - 8) & 0xFF];
    std::size_t byte = 0;
    for (; rank >= counts[byte]; ++byte) rank -= counts[byte];
    found = found << 8 | byte;
  }
  return static_cast<std::uint32_t>(found);
}

}  // namespace corun

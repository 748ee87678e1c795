#pragma once

#include <cstdint>

/// What Lane::gate says in one word, so that a launch takes its number and learns whether it passes at once:
///
///   bit 63      the gate is closed
///   bits 40-62  the limit, modulo 2^23: through a closed gate, launches pass whose number is below it
///   bits 0-39   launches so far
///
/// The limit is never further than kFurthest from the launches so far.
namespace corun::gate {

inline constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
inline constexpr int kLimitShift = 40, kLimitBits = 23;
inline constexpr std::uint64_t kLimits = (std::uint64_t{1} << kLimitBits) - 1;
inline constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kLimitShift) - 1;
inline constexpr std::uint64_t kFurthest = kLimits / 2;

constexpr std::uint64_t closed_word(std::uint64_t launches, std::uint64_t limit) {
  return kClosed | (limit & kLimits) << kLimitShift | launches;
}
constexpr std::uint64_t launches_of(std::uint64_t word) { return word & kNumbers; }
constexpr bool is_closed(std::uint64_t word) { return (word & kClosed) != 0; }

/// Whether launch `number`, no further than kFurthest from the limit, passes.
constexpr bool passes(std::uint64_t word, std::uint64_t number) {
  if (!is_closed(word)) return true;
  const std::uint64_t beyond = ((word >> kLimitShift) - number) & kLimits;
  return beyond != 0 && beyond <= kFurthest;
}

}  // namespace corun::gate

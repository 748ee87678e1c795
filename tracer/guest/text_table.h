#pragma once

#include <cstddef>
#include <cstdint>

namespace corun::guest {

/// Texts by number, each kept once, in memory that is bounded and touched only as it fills: zeroed memory is an empty
/// table. One thread at a time.
class TextTable {
 public:
  /// Number of an equal text kept before, or 0.
  std::uint32_t find(const char* text, std::uint32_t length) const;
  /// Keeps a new text and returns its number (1, 2, 3, ...), or 0 where the table is full.
  std::uint32_t keep(const char* text, std::uint32_t length);
  bool has_room(std::uint32_t length) const { return count_ < kMostTexts && kMostBytes - bytes_ >= length; }
  std::uint32_t count() const { return count_; }

  static constexpr std::uint32_t kMostTexts = 65'536;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

 private:
  static constexpr std::uint32_t kSlots = 2 * kMostTexts;
  struct Entry {
    std::uint64_t hash;
    std::uint32_t offset, length;
  };
  std::uint32_t slot_of(const char* text, std::uint32_t length, std::uint64_t hash) const;

  std::uint32_t count_;
  std::size_t bytes_;
  std::uint32_t slots_[kSlots];  // number of the entry, 0 = free
  Entry entries_[kMostTexts];
  char arena_[kMostBytes];
};

}  // namespace corun::guest

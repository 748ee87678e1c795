#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corun {

// Numbers as protobuf writes them: seven bits a byte, the lowest first; all bytes but the last have their highest bit
// set. Signed numbers are folded first, so that -1 takes no more room than 1.

inline constexpr unsigned kMostVarintBytes = 10;

inline void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

inline std::uint64_t fold(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unfold(std::uint64_t folded) { return static_cast<std::int64_t>(folded >> 1 ^ (0 - (folded & 1))); }

/// Takes varints off the front of some bytes. Most are of one byte or two.
class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool is_at_end() const { return at_ == end_; }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - at_); }

  /// False, and `value` means nothing, where no whole varint of at most ten bytes is left. Bits above the 64th are
  /// lost.
  bool next(std::uint64_t& value) {
    if (at_ == end_) return false;
    value = static_cast<std::uint8_t>(*at_++);
    if (value < 0x80) return true;
    if (at_ == end_) return false;
    const std::uint64_t second = static_cast<std::uint8_t>(*at_++);
    value += (second - 1) << 7;
    return second < 0x80 || next_long(value);
  }

 private:
  bool next_long(std::uint64_t& value) {
    value &= 0x3FFF;
    for (unsigned shift = 14; shift < 7 * kMostVarintBytes && at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const char* at_;
  const char* end_;
};

}  // namespace corun

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace corun::yardstick {

/// The limit of a queue of pending events: a tournament over a fixed number of slots, each with one next event.
///
/// Ties go by sequence number, and any slot's event can be changed or taken back (kNone) at the price of one walk from
/// its leaf to the root. It knows neither actions nor handles nor growth, which is what a general queue pays for. Times
/// and sequences lie in two arrays: the walk then compiles without branches.
class WinnerTree {
 public:
  static constexpr std::uint64_t kNone = UINT64_MAX;
  static constexpr unsigned kSlotBits = 24;

  explicit WinnerTree(std::size_t slots)
      : leaves_(std::bit_ceil(slots)), time_(2 * leaves_, kNone), order_(2 * leaves_, kNone) {}

  std::uint64_t time() const { return time_[1]; }
  std::uint32_t slot() const { return static_cast<std::uint32_t>(order_[1] & ((1u << kSlotBits) - 1)); }

  void set(std::uint32_t slot, std::uint64_t time) {
    std::uint64_t order = next_sequence_++ << kSlotBits | slot;
    std::size_t at = leaves_ + slot;
    time_[at] = time;
    order_[at] = order;
    while (at > 1) {
      const std::uint64_t other_time = time_[at ^ 1], other_order = order_[at ^ 1];
      const bool is_other = (other_time < time) | ((other_time == time) & (other_order < order));
      const std::uint64_t mask = 0 - std::uint64_t{is_other};
      time ^= (time ^ other_time) & mask;
      order ^= (order ^ other_order) & mask;
      at >>= 1;
      time_[at] = time;
      order_[at] = order;
    }
  }

 private:
  std::size_t leaves_;
  std::vector<std::uint64_t> time_, order_;
  std::uint64_t next_sequence_ = 0;
};

/// The same with one word for both, time above slot: ties go by slot, times have 64 - `SlotBits` bits.
template <unsigned SlotBits>
class PackedWinnerTree {
 public:
  explicit PackedWinnerTree(std::size_t slots) : leaves_(std::bit_ceil(slots)), key_(2 * leaves_, UINT64_MAX) {}

  std::uint64_t top() const { return key_[1]; }
  void set(std::uint32_t slot, std::uint64_t key) {
    std::size_t at = leaves_ + slot;
    key_[at] = key;
    while (at > 1) {
      const std::uint64_t other = key_[at ^ 1];
      key = other < key ? other : key;
      at >>= 1;
      key_[at] = key;
    }
  }

 private:
  std::size_t leaves_;
  std::vector<std::uint64_t> key_;
};

}  // namespace corun::yardstick

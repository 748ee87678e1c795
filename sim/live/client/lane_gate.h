#pragma once

#include <cstdint>

#include "tracer/gate/channel/channel.h"

namespace corun::live {

/// The gate in a client's lane, as the scheduler sets it. Closed at first. One thread.
class LaneGate {
 public:
  explicit LaneGate(gate::Lane& lane) : lane_(lane) {}

  void open();
  /// Afterwards, launches pass whose number in the lane is below `limit`.
  void close(std::uint64_t limit);
  bool is_open() const { return is_open_; }
  /// While it is closed.
  std::uint64_t limit() const { return limit_; }
  /// Whether launch `number` passes, or passed before the gate was closed.
  bool has_passed(std::uint64_t number) const;
  /// Entries of launches below `first` may be used again.
  void retire(std::uint64_t first);
  std::uint64_t retired() const { return retired_; }
  /// False where the program has changed the gate.
  bool is_as_set() const;
  /// Wakes the processes that open(), close() and retire() have let go on.
  void wake_admitted();

 private:
  gate::Lane& lane_;
  std::uint64_t passed_ = 0;  // below it, launches passed an open gate, or one whose limit was higher
  std::uint64_t limit_ = 0;
  std::uint64_t retired_ = 0;
  bool is_open_ = false;
  bool must_wake_ = false;
};

}  // namespace corun::live

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/device/spec.h"

namespace corun {

/// The link between host and device: one bandwidth per direction, shared by everything that moves at a time.
///
/// A transfer asks for the rate that it would have alone, in bytes per second. Shares are max-min fair: none gets more
/// than it asks for, and one that gets less gets as much as any other. A direction whose bandwidth the device does not
/// give grants everything.
class HostLink {
 public:
  enum Direction : std::size_t { kToDevice, kFromDevice };
  static constexpr std::size_t kDirections = 2;

  explicit HostLink(const DeviceSpec& spec);

  bool is_limited(Direction direction) const { return capacity_[direction] > 0; }

  /// The rate, at most that of the whole direction.
  std::int64_t within(Direction direction, std::int64_t bytes_per_s) const;

  void forget_asks();

  /// Asks for bandwidth from the last forget_asks() on. Returns the ask's number.
  std::size_t ask(Direction direction, std::int64_t bytes_per_s);

  /// What each transfer gets, in (0, 1] of what it asked for; 1 if it asked for nothing.
  std::vector<double> granted(Direction direction) const;

 private:
  std::array<std::int64_t, kDirections> capacity_;
  std::array<std::vector<std::int64_t>, kDirections> asks_;
};

}  // namespace corun

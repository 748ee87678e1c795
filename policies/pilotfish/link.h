#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/policy/view.h"

namespace corun {

/// What the fillers may use of the host link while a game plays: copies pass as long as those before them would have
/// drained at (1 - reserve) of the link's bandwidth, in each direction by itself.
class LinkReserve {
 public:
  explicit LinkReserve(double reserve) : share_(1.0 - reserve) {}

  /// Whether any copy may have to wait.
  bool keeps_any() const { return share_ != 1.0; }

  /// When the filler's copy may pass, at `now` or later. Copies of unknown size or direction, or on a link of unknown
  /// bandwidth, always may.
  Time passes_at(const DeviceView& device, const OpView& copy, Time now) const {
    const std::optional<std::size_t> way = way_of(device, copy);
    return way ? std::max(now, drained_[*way]) : now;
  }

  void take(const DeviceView& device, const OpView& copy, Time now) {
    const std::optional<std::size_t> way = way_of(device, copy);
    if (!way) return;
    const double bytes_per_s = share_ * static_cast<double>(bandwidth(device, *way));
    drained_[*way] =
        std::max(now, drained_[*way]) + Duration{std::llround(static_cast<double>(copy.bytes) * 1e9 / bytes_per_s)};
  }

 private:
  static std::uint64_t bandwidth(const DeviceView& device, std::size_t way) {
    return way == 0 ? device.to_device_bytes_per_s : device.from_device_bytes_per_s;
  }

  std::optional<std::size_t> way_of(const DeviceView& device, const OpView& copy) const {
    if (share_ == 1.0 || !copy.is_copy || copy.bytes == 0 || copy.is_to_device == copy.is_from_device) return {};
    const std::size_t way = copy.is_to_device ? 0 : 1;
    if (bandwidth(device, way) == 0) return {};
    return way;
  }

  const double share_;
  std::array<Time, 2> drained_{};  // to and from the device: when all that passed would be through
};

}  // namespace corun

#include "sim/device/model/host_link.h"

#include <algorithm>

#include "sim/device/max_min.h"
#include "traces/base/error.h"

namespace corun {

HostLink::HostLink(const DeviceSpec& spec)
    : capacity_{static_cast<std::int64_t>(spec.to_device_bytes_per_s),
                static_cast<std::int64_t>(spec.from_device_bytes_per_s)} {}

std::int64_t HostLink::within(Direction direction, std::int64_t bytes_per_s) const {
  return is_limited(direction) ? std::min(bytes_per_s, capacity_[direction]) : bytes_per_s;
}

void HostLink::forget_asks() {
  for (std::vector<std::int64_t>& asks : asks_) asks.clear();
}

std::size_t HostLink::ask(Direction direction, std::int64_t bytes_per_s) {
  CORUN_ASSERT(bytes_per_s >= 0, "an ask for {} bytes/s", bytes_per_s);
  asks_[direction].push_back(bytes_per_s);
  return asks_[direction].size() - 1;
}

std::vector<double> HostLink::granted(Direction direction) const {
  const std::vector<std::int64_t>& asks = asks_[direction];
  std::vector<double> fractions(asks.size(), 1.0);
  if (!is_limited(direction)) return fractions;
  const std::vector<std::int64_t> shares = max_min_shares(asks, capacity_[direction]);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const auto share = static_cast<double>(std::max<std::int64_t>(shares[i], 1));
    if (shares[i] < asks[i]) fractions[i] = share / static_cast<double>(asks[i]);
  }
  return fractions;
}

}  // namespace corun

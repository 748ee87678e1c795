#include "policies/limits/quotas.h"

#include <cmath>

namespace corun {

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

std::int64_t percent(double share) { return std::lround(share * 100.0); }

}  // namespace

std::optional<double> stated_share(const ByClient& limits, const ClientView& client) {
  if (const auto named = limits.find(client.name); named != limits.end()) return named->second;
  return client.requested_share > 0.0 ? std::optional(client.requested_share) : std::nullopt;
}

Quota Quotas::stated(const ClientView& client) const {
  Quota quota{stated_share(shares_, client), std::nullopt};
  if (quota.share && !quota.limits_compute()) return quota;
  if (const auto named = gibibytes_.find(client.name); named != gibibytes_.end()) {
    quota.bytes = named->second * kGibibyte;
  } else if (client.requested_bytes > 0) {
    quota.bytes = static_cast<double>(client.requested_bytes);
  }
  return quota;
}

const Quota& Quotas::join(const GpuView& view, ClientId client) {
  given_.resize(view.clients.size());
  return given_[client.value] = stated(view.client(client));
}

bool Quotas::resize(const GpuView& view, ClientId client) {
  const Quota wanted = stated(view.client(client));
  if (!has_room(view, client, wanted)) return false;
  given_[client.value] = wanted;
  return true;
}

bool Quotas::has_room(const GpuView& view, ClientId client, const Quota& wanted) const {
  std::int64_t percents = percent(wanted.share.value_or(0.0));
  double bytes = wanted.bytes.value_or(0.0);
  const bool wants_compute = percents > percent(of(client).share.value_or(1.0));
  const bool wants_memory = view.device.memory_bytes > 0 && bytes > of(client).bytes.value_or(HUGE_VAL);
  for (std::uint32_t other = 0; other < given_.size(); ++other) {
    if (other == client.value) continue;
    percents += percent(given_[other].share.value_or(0.0));
    bytes += given_[other].bytes.value_or(0.0);
  }
  return (!wants_compute || percents <= 100) &&
         (!wants_memory || bytes <= static_cast<double>(view.device.memory_bytes));
}

}  // namespace corun

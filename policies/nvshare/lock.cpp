#include "policies/nvshare/lock.h"

#include <algorithm>

namespace corun {

void NvshareLock::request(ClientId client) {
  if (std::ranges::find(queue_, client) == queue_.end()) queue_.push_back(client);
}

void NvshareLock::release(ClientId client) {
  if (is_held_ && queue_.front() == client) is_held_ = false;
  std::erase(queue_, client);
}

/// A holder that was told to give the lock back is told again; it heeds one message for each grant.
void NvshareLock::set_quantum(Duration quantum, Time now) {
  quantum_ = quantum;
  granted_ = now;
  is_drop_sent_ = false;
}

void NvshareLock::clear() {
  queue_.clear();
  is_held_ = false;
}

std::optional<ClientId> NvshareLock::grant(Time now) {
  if (!may_grant()) return std::nullopt;
  is_held_ = true;
  is_drop_sent_ = false;
  granted_ = now;
  return queue_.front();
}

std::optional<ClientId> NvshareLock::drop(Time now) {
  if (!is_drop_due(now)) return std::nullopt;
  is_drop_sent_ = true;
  return queue_.front();
}

Time NvshareLock::next_drop(Time now) const {
  return may_drop() && granted_ + quantum_ > now ? granted_ + quantum_ : kNever;
}

Duration NvshareLock::quantum_left(Time now) const {
  return is_held_ ? std::max(Duration::zero(), granted_ + quantum_ - now) : Duration::zero();
}

}  // namespace corun

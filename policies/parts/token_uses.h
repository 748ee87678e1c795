#pragma once

#include <algorithm>
#include <deque>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// Which client held Gemini's token when, within a sliding window: what requests and limits are compared with.
///
/// Times must not decrease.
class TokenUses {
 public:
  explicit TokenUses(Duration window) : window_(window) {}

  void begin(ClientId client, Time now, Time quota_end) { uses_.push_back({client, now, quota_end}); }
  /// The client gave its newest token back before the quota was over.
  void end_early(ClientId client, Time now) {
    if (Use* newest = newest_of(client)) newest->end = now;
  }
  /// The client's kernels ran until `end`, perhaps beyond its newest quota.
  void extend(ClientId client, Time end) {
    if (Use* newest = newest_of(client)) newest->end = std::max(newest->end, end);
  }
  void forget_old(Time now) {
    std::erase_if(uses_, [&](const Use& use) { return use.end <= now - window_; });
  }

  /// Whether the client held the token since what was forgotten last.
  bool is_recent(ClientId client) const {
    return std::ranges::any_of(uses_, [&](const Use& use) { return use.client == client; });
  }
  /// How much of the window that ends at `now` the client held it.
  Duration used(Time now, ClientId client) const {
    Duration sum{};
    for (const Use& use : uses_)
      if (use.client == client)
        sum += std::max(Duration::zero(), std::min(use.end, now) - std::max(use.begin, now - window_));
    return sum;
  }
  /// When used() of a client that does not hold the token falls below `limit`, which it has reached; `limit` > 0.
  Time below_at(Time now, ClientId client, Duration limit) const {
    Duration excess = used(now, client) - limit + Duration{1};
    for (const Use& use : uses_) {
      if (use.client != client) continue;
      const Time begin = std::max(use.begin, now - window_);
      if (use.end - begin >= excess) return begin + excess + window_;
      excess -= std::max(Duration::zero(), use.end - begin);
    }
    return kNever;
  }

 private:
  struct Use {
    ClientId client;
    Time begin, end;
  };

  Use* newest_of(ClientId client) {
    const auto newest =
        std::find_if(uses_.rbegin(), uses_.rend(), [&](const Use& use) { return use.client == client; });
    return newest == uses_.rend() ? nullptr : &*newest;
  }

  const Duration window_;
  std::deque<Use> uses_;  // by start
};

}  // namespace corun

#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "sim/policy/view.h"

namespace corun {

/// Where a client stands among the others: interactive clients above best-effort ones, then by the priority that its
/// owner stated. Greater is more important.
struct Rank {
  bool is_interactive = false;
  std::int32_t priority = 0;

  friend auto operator<=>(const Rank&, const Rank&) = default;
};

inline Rank rank_of(const ClientView& client) { return {client.role == Role::kInteractive, client.priority}; }

/// Whether it has submitted something that has not completed.
inline bool has_work(const ClientView& client) { return client.in_flight > 0 || !client.waiting.empty(); }

/// For systems that know two classes: whether no client that is present ranks above this one. Clients of one rank are
/// of one class; where all clients are of one rank, all are of high priority.
inline bool is_high_priority(const GpuView& view, const ClientView& client) {
  return std::ranges::none_of(
      view.clients, [&](const ClientView& other) { return other.is_present && rank_of(other) > rank_of(client); });
}

/// Whether a client of high priority has work.
inline bool high_priority_has_work(const GpuView& view) {
  return std::ranges::any_of(view.clients, [&](const ClientView& client) {
    return client.is_present && has_work(client) && is_high_priority(view, client);
  });
}

}  // namespace corun

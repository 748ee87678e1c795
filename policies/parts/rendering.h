#pragma once

#include <algorithm>

#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// What policies that share a device with games ask of a view: which clients are games, and whether anything is being
/// rendered.

inline bool is_game(const ClientView& client) { return client.role == Role::kInteractive && client.is_present; }
inline bool is_filler(const ClientView& client) { return client.is_present && client.role == Role::kBestEffort; }

inline bool has_game(const GpuView& view) { return std::ranges::any_of(view.clients, is_game); }

/// Whether the client's newest frame has begun on the device and not ended.
inline bool is_rendering(const ClientView& client) {
  return client.is_present && client.frame.begin != kNever && client.frame.end == kNever;
}
inline bool is_rendering(const GpuView& view) {
  return std::ranges::any_of(view.clients, [](const ClientView& client) { return is_rendering(client); });
}

/// The end of the polling period that `now` is in: when a thread that looks every `poll` sees what happens now. A poll
/// of zero sees it at once.
inline Time next_poll(Time now, Duration poll) {
  if (poll == Duration::zero()) return now;
  return kRunStart + (now - kRunStart + poll - Duration{1}) / poll * poll;
}

/// What holds of one client's gate while fillers are gated, because a game is there, or while none is: games are open,
/// gated fillers closed, and without a game everything is open but a client that is being restored.
inline void settle_gate(const ClientView& client, bool are_gated, Actions& actions) {
  if (are_gated && client.role == Role::kBestEffort) {
    if (client.gate_is_open) actions.close(client.id);
  } else if (client.is_copying) {
    actions.hold(client.id, {"restoring", 0, 0, ""});
  } else if (!client.gate_is_open) {
    actions.open(client.id);
  }
}

/// Settles every gate so. The operations of gated fillers are then admitted one by one. Returns whether there is a
/// game.
inline bool close_fillers_while_games_run(const GpuView& view, Actions& actions) {
  const bool are_gated = has_game(view);
  for (const ClientView& client : view.clients)
    if (client.is_present) settle_gate(client, are_gated, actions);
  return are_gated;
}

}  // namespace corun

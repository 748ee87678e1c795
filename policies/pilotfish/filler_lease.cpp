#include "policies/pilotfish/filler_lease.h"

#include <algorithm>

#include "policies/parts/rendering.h"

namespace corun {

/// The device as the fillers may use it: games are absent, and so is the memory that they need.
GpuView FillerLease::without_games(const GpuView& view) {
  GpuView rest = view;
  fillers_.assign(view.clients.begin(), view.clients.end());
  for (ClientView& client : fillers_) {
    if (!is_game(client)) continue;
    const auto its = static_cast<std::uint64_t>(Residents::need(client)) + view.device.context_bytes;
    // A byte stays: a device of no bytes would be one without limit.
    if (view.device.memory_bytes > 0) rest.device.memory_bytes -= std::min(its, rest.device.memory_bytes - 1);
    client.is_present = false;
  }
  rest.clients = fillers_;
  return rest;
}

void FillerLease::bring_games_back(const GpuView& view, Actions& actions) {
  is_coming_back_.resize(view.clients.size());
  for (const ClientView& client : view.clients) {
    if (!is_game(client)) continue;
    // Before anything of it is resident, the game has not begun; less than a block is rounding.
    constexpr std::uint64_t kBlock = 2 << 20;
    const bool is_missing = client.resident_bytes > 0 && client.resident_bytes + kBlock < client.working_set_bytes;
    if (is_missing && !is_coming_back_[client.id.value]) actions.prefetch(client.id);
    is_coming_back_[client.id.value] = is_missing;
  }
}

void FillerLease::settle(const GpuView& view, Actions& actions) {
  const GpuView rest = without_games(view);
  residents_.settle(rest);
  for (const ClientId client : residents_.take_to_load())
    if (prefetches_) actions.prefetch(client);
  if (prefetches_) bring_games_back(view, actions);
  const auto loading = residents_.loading(rest);
  holds_.assign(view.clients.size(), Hold{});
  for (const ClientView& client : rest.clients) {
    if (!client.is_present) continue;
    if (!residents_.is_member(client.id) || residents_.is_leaving()) {
      holds_[client.id.value] = {"lease", Residents::need(client), std::max(0.0, residents_.room(rest)), "bytes"};
    } else if (loading) {
      const ClientView& loaded = rest.client(*loading);
      holds_[client.id.value] = {"loading", static_cast<double>(loaded.working_set_bytes),
                                 static_cast<double>(loaded.resident_bytes), "bytes"};
    }
  }
  actions.wake_at(residents_.next_look(rest));
}

}  // namespace corun

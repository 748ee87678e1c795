#pragma once

#include <cstdint>
#include <vector>

#include "policies/parts/rendering.h"

namespace corun {

/// Which fillers have room in device memory together with the games, without swapping: first the games, then the
/// fillers in the order of clients, each with what it allocates and its context. On a device of unknown size everything
/// fits.
class MemoryFit {
 public:
  /// To be called when a client has joined or left.
  void look(const GpuView& view) {
    holds_.assign(view.clients.size(), Hold{});
    if (view.device.memory_bytes == 0) return;
    std::uint64_t used = 0;
    for (const ClientView& client : view.clients)
      if (is_game(client)) used += needs(view, client);
    for (const ClientView& client : view.clients) {
      if (!is_filler(client)) continue;
      const std::uint64_t free = view.device.memory_bytes - std::min(used, view.device.memory_bytes);
      if (needs(view, client) <= free) {
        used += needs(view, client);
      } else {
        holds_[client.id.value] = {"memory_fit", static_cast<double>(needs(view, client)), static_cast<double>(free),
                                   "bytes"};
      }
    }
  }

  /// Why the filler has to wait; without a rule: it fits.
  const Hold& hold(ClientId filler) const { return holds_[filler.value]; }

 private:
  static std::uint64_t needs(const GpuView& view, const ClientView& client) {
    return client.allocated_bytes + view.device.context_bytes;
  }

  std::vector<Hold> holds_;  // by client
};

}  // namespace corun

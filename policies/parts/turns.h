#pragma once

#include <cstddef>
#include <optional>

#include "sim/policy/view.h"

namespace corun {

/// Round robin: the client that comes next after the one that was served last, in the order of client ids.
///
/// Copy it to try out what a decision would do.
class Turns {
 public:
  void serve(ClientId client) { next_ = client.value + std::size_t{1}; }

  /// The first client after the one served last, that one itself at the end, that `may_go(client)` accepts; empty
  /// without one. Clients that are not present are passed over.
  template <class MayGo>
  std::optional<ClientId> next(const GpuView& view, MayGo may_go) const {
    const std::size_t count = view.clients.size();
    for (std::size_t step = 0; step < count; ++step) {
      const ClientView& client = view.clients[(next_ + step) % count];
      if (client.is_present && may_go(client)) return client.id;
    }
    return std::nullopt;
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace corun

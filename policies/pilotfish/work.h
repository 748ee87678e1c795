#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Kernels of fillers that have been launched and not completed, as they were predicted.
class UnfinishedWork {
 public:
  struct Launch {
    Time time;                      ///< when it was launched
    Duration cost{};                ///< predicted, as charged; >= 0
    bool is_unknown = false;        ///< it had no prediction
    std::uint64_t paged_bytes = 0;  ///< the client's page-in counter at the launch
  };

  void launched(const GpuView& view, ClientId client, std::uint64_t number, Duration cost, bool is_unknown) {
    clients_.resize(std::max(clients_.size(), view.clients.size()));
    Client& its = clients_[client.value];
    its.launches.push_back({number, {view.now, cost, is_unknown, view.client(client).paged_bytes}});
    its.unknown += is_unknown;
    its.cost += cost;
    total_ += cost;
  }

  /// Takes the launch out and returns it.
  Launch completed(ClientId client, std::uint64_t number, Time now) {
    Client& its = clients_[client.value];
    its.last_end = now;
    const bool is_oldest = its.launches.front().number == number;  // as most are
    const auto found =
        is_oldest ? its.launches.begin() : std::ranges::lower_bound(its.launches, number, {}, &Numbered::number);
    const Launch launch = found->launch;
    if (is_oldest) {
      its.launches.pop_front();
    } else {
      its.launches.erase(found);
    }
    its.unknown -= launch.is_unknown;
    its.cost -= launch.cost;
    total_ -= launch.cost;
    return launch;
  }

  /// Whether the measured time of a completed launch says how long such a kernel takes: it was neither lost in a kill
  /// nor in flight while pages were brought in.
  static bool is_representative(const ClientView& client, const Launch& launch) {
    return !client.is_copying && client.paged_bytes == launch.paged_bytes;
  }

  Duration total() const { return total_; }  ///< predicted, of all clients
  Duration of(ClientId client) const { return find(client).cost; }
  std::uint64_t count(ClientId client) const { return find(client).launches.size(); }
  bool has_unknown(ClientId client) const { return find(client).unknown > 0; }
  /// How much longer the client's oldest kernel has been running at `now` than was predicted, whatever ran beside it;
  /// it began when it was launched, or when the one before it ended. 0 with nothing in flight, or without prediction.
  Duration overdue(ClientId client, Time now) const {
    const Client& its = find(client);
    if (its.launches.empty() || its.launches.front().launch.is_unknown) return {};
    const Launch& oldest = its.launches.front().launch;
    return std::max(Duration{}, now - std::max(oldest.time, its.last_end) - oldest.cost);
  }

 private:
  struct Numbered {
    std::uint64_t number;
    Launch launch;
  };
  struct Client {
    std::deque<Numbered> launches;  // in order
    Duration cost{};
    std::uint32_t unknown = 0;
    Time last_end;
  };
  const Client& find(ClientId client) const {
    static const Client kNone;
    return client.value < clients_.size() ? clients_[client.value] : kNone;
  }

  std::vector<Client> clients_;
  Duration total_{};
};

}  // namespace corun

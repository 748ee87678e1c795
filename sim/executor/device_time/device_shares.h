#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun::executor {

/// Device time of each client where contexts take turns, estimated from outside. The turns themselves are not seen: an
/// operation that waits in the middle for its context's next turn looks as if it ran. So where several clients have
/// work at an instant, each is taken to receive an equal part of it. Over many turns that is what a round robin of
/// equal slices gives; a client whose work is much shorter than a slice receives more than its part while it has some.
///
/// Stretches come in any order, as operations end; one that goes on is added again and again, as far as it has come.
/// One added late changes what others have received. It costs as much as the set of working clients changes in it.
/// One thread.
class DeviceShares {
 public:
  static constexpr std::size_t kMostClients = 64;

  /// Throws Error(kUnsupported) for more clients than that.
  explicit DeviceShares(std::size_t clients);

  /// The client has work from `begin` to `end`. Time added twice, or of several streams at once, counts once.
  void add(ClientId client, Time begin, Time end);

  /// What the client has received so far, rounded down to nanoseconds for each number of working clients.
  Duration received(ClientId client) const;
  /// Of a stretch of time, as far as it has not been settled.
  Duration received(ClientId client, Time begin, Time end) const;

  /// Forgets instants before `oldest`: no stretch added or asked for from now on may begin there; one that does is
  /// cut.
  void settle(Time oldest);

 private:
  using Company = std::uint64_t;  ///< a bit for each client
  using Steps = std::map<Time, Company>;
  Steps::iterator cut(Time at);
  void count(Company company, Duration length);

  Steps steps_;                                    ///< the clients that have work from that instant until the next one
  std::vector<std::vector<Duration>> in_company_;  ///< by client, then by how many have work with it: for how long
};

}  // namespace corun::executor

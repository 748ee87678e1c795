#pragma once

#include <vector>

#include "sim/executor/device_time/busy_time.h"
#include "sim/executor/device_time/device_shares.h"

namespace corun::live {

/// What the clients of a live run had of the device, from when each of their operations and frames began and ended.
///
/// Where contexts take turns, an operation that began and ended did not run all that time: clients that had work at an
/// instant are taken to have had equal parts of it. Where they share it at once, each counts whole.
class DeviceUse {
 public:
  DeviceUse(std::size_t clients, bool takes_turns) : takes_turns_(takes_turns), shares_(clients), sums_(clients) {}

  /// In any order; what began before the newest settle() is cut.
  void add(ClientId client, Time begin, Time end) {
    busy_.add(begin, end);
    sums_[client.value] += end - begin;
    if (takes_turns_) shares_.add(client, begin, end);
  }
  /// Work of the client began then and has not ended.
  void go_on(ClientId client, Time begin, Time now) {
    if (takes_turns_) shares_.add(client, begin, now);
  }
  void settle(Time oldest) { shares_.settle(oldest); }

  Duration busy() const { return busy_.total(); }  ///< some client had work
  Duration of(ClientId client) const { return takes_turns_ ? shares_.received(client) : sums_[client.value]; }
  /// Of work that took from `begin` to `end`, as far as what others had to do is known.
  Duration of(ClientId client, Time begin, Time end) const {
    return takes_turns_ ? shares_.received(client, begin, end) : end - begin;
  }

 private:
  const bool takes_turns_;
  executor::BusyTime busy_;
  executor::DeviceShares shares_;
  std::vector<Duration> sums_;
};

}  // namespace corun::live

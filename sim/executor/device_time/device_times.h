#pragma once

#include <vector>

#include "sim/device/device_model.h"
#include "sim/executor/device_time/busy_time.h"
#include "sim/executor/device_time/device_shares.h"

namespace corun::executor {

/// Device time of the clients of a run on hardware. Where their contexts take turns, each receives its part
/// (DeviceShares). Where they share the device at once, under MPS, an operation receives the time from its start to its
/// end, and a client that in which at least one of its operations ran. One thread.
class DeviceTimes {
 public:
  /// Throws as DeviceShares.
  DeviceTimes(std::size_t clients, bool take_turns);

  bool take_turns() const { return take_turns_; }

  /// An operation of the client ran from `begin` to `end`, or has until now.
  void worked(ClientId client, Time begin, Time end);
  /// No work reported from now on begins before `oldest`.
  void settle(Time oldest) { shares_.settle(oldest); }

  /// Received by the client so far; never less than it was.
  Duration received(ClientId client) const;
  /// Received by an operation, by what is known when it ends; to be called after worked().
  Duration received(const Completion& done) const;
  /// How long any client was at work.
  Duration busy() const { return busy_.total(); }

 private:
  const bool take_turns_;
  DeviceShares shares_;
  std::vector<BusyTime> spans_;  ///< by client
  BusyTime busy_;
  mutable std::vector<Duration> told_;  ///< by client
};

}  // namespace corun::executor

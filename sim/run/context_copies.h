#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/run/device_driver.h"
#include "sim/run/run.h"

namespace corun {

/// Copies of clients' persistent memory between host and device: snapshots, and restores after a kill. A copy is an
/// operation of the device in a stream of its own; its end is reported by Arbiter::copied.
class ContextCopies {
 public:
  /// `input`, `driver` and `arbiter` must outlive it.
  ContextCopies(const RunInput& input, DeviceDriver& driver, Arbiter& arbiter)
      : input_(input), driver_(driver), arbiter_(arbiter), going_on_(input.clients.size()) {}

  /// Begins a snapshot now. `stream` is one that the client's own operations leave unused.
  void snapshot(ClientId client, StreamId stream);
  /// Begins to copy what the last snapshot kept or, without one, the memory as it was at first. Without a host link the
  /// client is restored at once.
  void restore(ClientId client, StreamId stream);
  /// The copy of the client's memory has completed.
  void completed(ClientId client);
  bool goes_on(ClientId client) const { return going_on_[client.value].has_value(); }

 private:
  void copy(ClientId client, StreamId stream, OpKind kind, std::uint64_t bytes_per_s);
  Duration time_for(ClientId client, std::uint64_t bytes, std::uint64_t bytes_per_s) const;

  const RunInput& input_;
  DeviceDriver& driver_;
  Arbiter& arbiter_;
  std::vector<std::optional<CopyEvent>> going_on_;  ///< by client
};

}  // namespace corun

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/executor/channel.h"
#include "sim/executor/wall_clock.h"

namespace corun::executor {

/// The operations of one client that its worker has been given. A stream's complete in order, so only its oldest is
/// looked at.
class InFlight {
 public:
  InFlight(ClientId client, std::uint32_t streams) : client_(client), by_stream_(streams) {}

  /// Posts a command, or keeps it until the ring has room. Numbers are consecutive. It awaits what is still in flight:
  /// completed submissions are taken out of its list.
  void launch(const Command& command, Time launched, Channel& channel);

  /// The next operation that has completed, if any, as the device or, of copies, the host saw it. Its call of the
  /// driver has returned. Where the device's clock contradicts what the host saw of a kernel, the channel's offset
  /// follows.
  std::optional<Completion> take_completed(Channel& channel, const WallClock& clock);

  /// When an operation that is in flight began; kNever if it has not, or that is not known yet.
  Time begin_of(std::uint64_t number, Channel& channel, const WallClock& clock) const;

  std::uint32_t count() const { return count_; }
  /// Since when operations are in flight and none of them ends; kNever where none is in flight.
  Time waiting_since() const;

 private:
  struct Op {
    std::uint64_t number;
    bool is_copy;
    Time launched;
    Time seen_begin;  ///< of copies: when the host saw that it began
  };
  struct Unposted {
    Command command;
    Time launched;
  };
  bool has_room_for(std::uint64_t number) const;
  bool is_in_flight(std::uint64_t number, std::size_t stream) const;
  void post_what_fits(Channel& channel);
  void post(const Unposted& next, Channel& channel);
  Completion completion_of(const Op& op, Channel& channel, const WallClock& clock);

  ClientId client_;
  std::vector<std::deque<Op>> by_stream_;
  std::deque<Unposted> unposted_;
  std::uint32_t count_ = 0;
  Time last_end_ = kRunStart;  ///< when the newest completion was taken
};

}  // namespace corun::executor

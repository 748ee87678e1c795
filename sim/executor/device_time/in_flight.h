#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// An operation that has ended on hardware.
struct Ended : Completion {
  /// From when on it kept its context at work: its start or, where it was queued on the device behind another one of
  /// its stream, the end of that.
  Time at_work_since;
};

/// The operations of one client that its worker has been given. A stream's complete in order, so only its oldest is
/// looked at.
class InFlight {
 public:
  InFlight(ClientId client, std::uint32_t streams)
      : client_(client), by_stream_(streams), unposted_of_(streams), last_end_of_(streams) {}

  /// Posts a command, or keeps it until the ring has room and nothing is held. Numbers are consecutive. It awaits what
  /// is still in flight: completed submissions are taken out of its list.
  void launch(const Command& command, Time launched, Channel& channel);

  /// Keeps what is launched from now on, or posts what was kept.
  void hold_back() { is_held_ = true; }
  void release(Channel& channel);

  /// Ends all of it: what has completed is returned as it did, what has not as lost at `now`. In order of launch.
  std::vector<Ended> abort(Time now, Channel& channel, const WallClock& clock);

  /// The next operation that has completed, if any, as the device or, of copies, the host saw it. Its call of the
  /// driver has returned. Where the device's clock contradicts what the host saw of a kernel, the channel's offset
  /// follows.
  std::optional<Ended> take_completed(Channel& channel, const WallClock& clock);

  /// When an operation that is in flight began; kNever if it has not, or that is not known yet.
  Time begin_of(std::uint64_t number, Channel& channel, const WallClock& clock) const;

  /// Since when kernels have been running without a pause, of those that run now; kNever where none does.
  Time running_since(Channel& channel, const WallClock& clock) const;

  bool has_work(StreamId stream) const { return !by_stream_[stream.value].empty() || unposted_of_[stream.value] > 0; }
  std::uint32_t count() const { return count_; }
  std::uint64_t next_number() const { return next_number_; }  ///< of the next launch
  /// Launched, and not completed, no earlier than this; kNever where nothing is in flight.
  Time oldest_launch() const;
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
  static Time begin_of(const Op& op, Channel& channel, const WallClock& clock);
  bool has_room_for(std::uint64_t number) const;
  bool is_in_flight(std::uint64_t number, std::size_t stream) const;
  void post_what_fits(Channel& channel);
  void post(const Unposted& next, Channel& channel);
  Ended ended(const Op& op, std::size_t stream, Channel& channel, const WallClock& clock);

  ClientId client_;
  std::vector<std::deque<Op>> by_stream_;
  std::deque<Unposted> unposted_;
  std::vector<std::uint32_t> unposted_of_;  ///< by stream
  std::vector<Time> last_end_of_;           ///< by stream: of its newest operation that has ended, on the device
  std::uint32_t count_ = 0;
  std::uint64_t next_number_ = 0;
  bool is_held_ = false;
  Time last_end_ = kRunStart;  ///< when the newest completion was taken
};

}  // namespace corun::executor

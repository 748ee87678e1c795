#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <variant>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/arbiter/gate_delays.h"
#include "sim/engine/engine.h"

namespace corun {

/// Delivers device events to the arbiter with the latency of a real gate, for each client in order.
///
/// Without delays every event is delivered at once, without an event of the engine. `engine` and `arbiter` must outlive
/// it.
class DelayedEvents {
 public:
  /// `renders` says of each client whether its work is frames.
  DelayedEvents(const GateDelays& delays, std::vector<bool> renders, Engine& engine, Arbiter& arbiter);

  // The listener's part of reports.h.
  void complete(ClientId client, std::uint64_t number, Duration device_time);
  void frame(ClientId client, FrameEvent event, const FrameView& frame);
  void shadow(ClientId client, const ShadowFrame& shadow);

  /// Delivers at once every event of the client that is still pending: it is killed, or leaves.
  void catch_up(ClientId client);

 private:
  struct Completed {
    std::uint64_t number = 0;
    Duration device_time{};
  };
  struct Framed {
    FrameEvent event{};
    FrameView frame;
  };
  struct Pending {
    Time due;
    EventHandle event;
    std::variant<Completed, Framed, ShadowFrame> what;
  };

  static void on_due(void* subject, std::uint64_t client);
  void send(ClientId client, Duration delay, const std::variant<Completed, Framed, ShadowFrame>& what);
  void deliver(ClientId client, const std::variant<Completed, Framed, ShadowFrame>& what);
  bool is_at_once(ClientId client, Duration delay) const {
    return delay == Duration{} && pending_[client.value].empty();
  }
  Duration delay_of(ClientId client) const { return renders_[client.value] ? delays_.frame_heard : delays_.end_heard; }

  const GateDelays delays_;
  const std::vector<bool> renders_;
  Engine& engine_;
  Arbiter& arbiter_;
  std::vector<std::deque<Pending>> pending_;  ///< by client, in order of delivery
};

}  // namespace corun

#pragma once

#include "sim/arbiter/arbiter.h"
#include "sim/workload/client.h"

namespace corun {

// How every backend, simulated or real, reports what its device did to a client and to the arbiter, in this order.
// `arbiter` is an Arbiter or forwards to one (DelayedEvents).

/// The client's oldest frame that is not known to have begun has begun.
template <class Listener>
void report_frame_begin(ClientId id, Client& client, Listener& arbiter, Time begin) {
  const std::uint64_t frame = client.submission(client.frame_awaiting_begin()).job;
  client.frame_begun(begin);
  arbiter.frame(id, FrameEvent::kBegin, FrameView{.number = frame, .scene = client.scene_of(frame)});
}

/// Its submission `number` has completed, and with it perhaps a frame: then the frame's end follows, then its shadow.
template <class Listener>
void report_completion(std::uint64_t number, const Completion& completion, Client& client, Listener& arbiter) {
  if (client.frame_awaiting_begin() == number) report_frame_begin(completion.client, client, arbiter, completion.begin);
  const bool ends_frame = client.completed(number, completion);
  arbiter.complete(completion.client, number, completion.device_time);
  if (!ends_frame) return;
  arbiter.frame(completion.client, FrameEvent::kEnd, client.last_frame());
  if (client.last_shadow()) arbiter.shadow(completion.client, *client.last_shadow());
}

}  // namespace corun

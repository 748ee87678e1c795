#include "sim/run/delayed_events.h"

#include <algorithm>
#include <utility>

namespace corun {

DelayedEvents::DelayedEvents(const GateDelays& delays, std::vector<bool> renders, Engine& engine, Arbiter& arbiter)
    : delays_(delays), renders_(std::move(renders)), engine_(engine), arbiter_(arbiter), pending_(renders_.size()) {}

void DelayedEvents::complete(ClientId client, std::uint64_t number, Duration device_time) {
  const Duration delay = delay_of(client);
  if (is_at_once(client, delay)) return arbiter_.complete(client, number, device_time);
  send(client, delay, Completed{number, device_time});
}

/// The program's own call reports the start of a frame, so it is not delayed.
void DelayedEvents::frame(ClientId client, FrameEvent event, const FrameView& frame) {
  send(client, event == FrameEvent::kBegin ? Duration{} : delay_of(client), Framed{event, frame});
}

void DelayedEvents::shadow(ClientId client, const ShadowFrame& shadow) { send(client, delay_of(client), shadow); }

void DelayedEvents::send(ClientId client, Duration delay, const std::variant<Completed, Framed, ShadowFrame>& what) {
  if (is_at_once(client, delay)) return deliver(client, what);
  std::deque<Pending>& waiting = pending_[client.value];
  const Time due = std::max(engine_.now() + delay, waiting.empty() ? kRunStart : waiting.back().due);
  waiting.push_back({due, engine_.at(due, Phase::kCompletion, &DelayedEvents::on_due, this, client.value), what});
}

void DelayedEvents::on_due(void* subject, std::uint64_t client) {
  DelayedEvents& events = *static_cast<DelayedEvents*>(subject);
  const Pending next = events.pending_[client].front();
  events.pending_[client].pop_front();
  events.deliver(ClientId{static_cast<std::uint32_t>(client)}, next.what);
}

void DelayedEvents::catch_up(ClientId client) {
  for (const Pending& each : std::exchange(pending_[client.value], {})) {
    engine_.cancel(each.event);  // what is left in the engine would prolong the run
    deliver(client, each.what);
  }
}

void DelayedEvents::deliver(ClientId client, const std::variant<Completed, Framed, ShadowFrame>& what) {
  if (const auto* done = std::get_if<Completed>(&what)) arbiter_.complete(client, done->number, done->device_time);
  if (const auto* framed = std::get_if<Framed>(&what)) arbiter_.frame(client, framed->event, framed->frame);
  if (const auto* shadow = std::get_if<ShadowFrame>(&what)) arbiter_.shadow(client, *shadow);
}

}  // namespace corun

#include "sim/run/delayed_events.h"

#include <algorithm>
#include <utility>

namespace corun {

DelayedEvents::DelayedEvents(const GateDelays& delays, std::vector<bool> renders, Engine& engine, Arbiter& arbiter)
    : delays_(delays),
      renders_(std::move(renders)),
      engine_(engine),
      arbiter_(arbiter),
      on_the_way_(renders_.size()) {}

void DelayedEvents::complete(ClientId client, std::uint64_t number, Duration device_time) {
  send(client, delay_of(client), Completed{number, device_time});
}

/// A frame's begin is told by the program's own call.
void DelayedEvents::frame(ClientId client, FrameEvent event, const FrameView& frame) {
  send(client, event == FrameEvent::kBegin ? Duration{} : delay_of(client), Framed{event, frame});
}

void DelayedEvents::shadow(ClientId client, const ShadowFrame& shadow) { send(client, delay_of(client), shadow); }

void DelayedEvents::send(ClientId client, Duration delay, const std::variant<Completed, Framed, ShadowFrame>& what) {
  std::deque<News>& waiting = on_the_way_[client.value];
  if (delay == Duration{} && waiting.empty()) return tell(client, what);
  const Time due = std::max(engine_.now() + delay, waiting.empty() ? kRunStart : waiting.back().due);
  waiting.push_back({due, engine_.at(due, Phase::kCompletion, &DelayedEvents::on_due, this, client.value), what});
}

void DelayedEvents::on_due(void* subject, std::uint64_t client) {
  DelayedEvents& news = *static_cast<DelayedEvents*>(subject);
  const News next = news.on_the_way_[client].front();
  news.on_the_way_[client].pop_front();
  news.tell(ClientId{static_cast<std::uint32_t>(client)}, next.what);
}

void DelayedEvents::catch_up(ClientId client) {
  for (const News& each : std::exchange(on_the_way_[client.value], {})) {
    engine_.cancel(each.event);  // what is left in the engine would prolong the run
    tell(client, each.what);
  }
}

void DelayedEvents::tell(ClientId client, const std::variant<Completed, Framed, ShadowFrame>& what) {
  if (const auto* done = std::get_if<Completed>(&what)) arbiter_.complete(client, done->number, done->device_time);
  if (const auto* framed = std::get_if<Framed>(&what)) arbiter_.frame(client, framed->event, framed->frame);
  if (const auto* shadow = std::get_if<ShadowFrame>(&what)) arbiter_.shadow(client, *shadow);
}

}  // namespace corun

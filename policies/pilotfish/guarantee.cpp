#include "policies/pilotfish/guarantee.h"

#include "policies/parts/rendering.h"

namespace corun {

void FrameGuarantee::joined(const GpuView& view, ClientId client) {
  clients_.resize(view.clients.size());
  clients_[client.value] = {};
}

void FrameGuarantee::frame_began(const GpuView& view, ClientId game, Duration period, const UnfinishedWork& work) {
  count_drop(view.now, clients_[game.value], period);
  if (settings_.decide_at == DecideAt::kFrameBegin) judge(view, view.now, work);
}

bool FrameGuarantee::is_guilty(ClientId filler, Time frame_begin, const UnfinishedWork& work) const {
  const bool is_left = settings_.preempt != Preempt::kStragglers && work.of(filler) > settings_.tolerance;
  const bool is_late =
      settings_.preempt != Preempt::kLeftover && work.overdue(filler, frame_begin) > settings_.tolerance;
  return is_left || is_late;
}

void FrameGuarantee::judge(const GpuView& view, Time frame_begin, const UnfinishedWork& work) {
  if (settings_.kind == Kind::kNone || bears_drops()) return;
  bool kills = false;
  for (const ClientView& client : view.clients) {
    Time& kill_at = clients_[client.id.value].kill_at;
    if (!is_filler(client) || client.is_copying || work.count(client.id) == 0 || kill_at != kNever) continue;
    if (!is_guilty(client.id, frame_begin, work)) continue;
    kill_at = view.now + settings_.kill_latency;
    kills = true;
  }
  if (kills) dropped_.clear();
}

void FrameGuarantee::count_drop(Time now, Client& game, Duration period) {
  ++frames_;
  if (game.last_begin != kNever && 2 * (now - game.last_begin) > 3 * period) dropped_.push_back(frames_);
  while (!dropped_.empty() && dropped_.front() <= frames_ - settings_.drop_window) dropped_.pop_front();
  game.last_begin = now;
}

bool FrameGuarantee::bears_drops() const {
  return settings_.kind == Kind::kSoft && static_cast<std::int64_t>(dropped_.size()) <= settings_.drop_limit;
}

void FrameGuarantee::frame_ended(const GpuView& view, ClientId game, const UnfinishedWork& work) {
  for (const ClientView& client : view.clients)
    if (is_filler(client)) ++clients_[client.id.value].frames;
  if (settings_.decide_at == DecideAt::kFrameEnd) judge(view, view.client(game).frame.begin, work);
}

void FrameGuarantee::completed(const ClientView& filler) {
  if (filler.in_flight == 0 && !filler.is_copying) clients_[filler.id.value].kill_at = kNever;
}

void FrameGuarantee::copied(ClientId filler) {
  clients_[filler.value].kill_at = kNever;
  clients_[filler.value].frames = 0;
}

void FrameGuarantee::games_left() {
  for (Client& client : clients_) client.kill_at = kNever;
}

void FrameGuarantee::act(const GpuView& view, Actions& actions) const {
  if (settings_.kind == Kind::kNone) return;
  for (const ClientView& client : view.clients) {
    if (!is_filler(client)) continue;
    const Time kill_at = clients_[client.id.value].kill_at;
    if (is_kill_due(view, client)) {
      actions.kill(client.id);
    } else if (is_snapshot_due(view, client) && client.in_flight == 0) {
      actions.snapshot(client.id);
    }
    if (kill_at > view.now && kill_at != kNever) actions.wake_at(kill_at);
  }
}

std::string_view FrameGuarantee::holds(const GpuView& view, const ClientView& filler) const {
  const bool is_killed = clients_[filler.id.value].kill_at != kNever && filler.is_copying;
  if (is_killed || is_kill_due(view, filler)) return "restoring";
  return filler.is_copying || is_snapshot_due(view, filler) ? "snapshot" : "";
}

bool FrameGuarantee::is_kill_due(const GpuView& view, const ClientView& filler) const {
  return clients_[filler.id.value].kill_at <= view.now && filler.in_flight > 0 && !filler.is_copying;
}

bool FrameGuarantee::is_snapshot_due(const GpuView& view, const ClientView& filler) const {
  return settings_.kind != Kind::kNone && settings_.snapshot_every > 0 && !filler.is_copying &&
         filler.snapshot_bytes > 0 && view.device.from_device_bytes_per_s > 0 &&
         clients_[filler.id.value].frames >= settings_.snapshot_every;
}

}  // namespace corun

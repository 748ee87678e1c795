#include "policies/pilotfish/window.h"

#include <algorithm>

#include "policies/parts/rendering.h"

namespace corun {

void FrameWindow::publish(Time now, Time next_begin) {
  next_begin_ = next_begin;
  budget_ = next_begin - now;
  noticed_ = next_poll(now, notify_poll_);
}

void FrameWindow::notice(Time now, Duration charge) {
  if (noticed_ > now) return;
  noticed_ = kNever;
  is_open_ = is_fresh_ = true;
  left_ = budget_ - charge;
  deadline_ = next_begin_;
}

void FrameWindow::begin_with(Duration slice) {
  close();
  if (is_absolute_ || slice == Duration::zero()) return;
  is_open_ = is_fresh_ = true;
  left_ = slice;
}

void FrameWindow::close() {
  is_open_ = false;
  noticed_ = kNever;
}

void FrameWindow::spend(Duration cost) {
  left_ -= cost;
  is_fresh_ = false;
}

Duration FrameWindow::room(Time now, Duration unfinished) const {
  if (!is_open_) return kNoRoom;
  return is_absolute_ ? deadline_ - now - unfinished : left_;
}

FrameGaps::Game& FrameGaps::game(const GpuView& view, ClientId id) {
  games_.resize(std::max(games_.size(), view.clients.size()));
  return games_[id.value];
}

void FrameGaps::end_gap(Game& game) { game.begin = game.noticed = game.end = kNever; }

void FrameGaps::submitted(const GpuView& view, ClientId id) {
  Game& its = game(view, id);
  if (its.begin == kNever) return;
  its.lengths.push_back(view.now - its.begin);
  end_gap(its);
}

void FrameGaps::launched(const GpuView& view, ClientId id) { ++game(view, id).in_flight; }

void FrameGaps::completed(const GpuView& view, ClientId id) {
  Game& its = game(view, id);
  if (--its.in_flight > 0 || !is_rendering(view.client(id))) return;
  its.begin = view.now;
  const std::size_t index = its.lengths.size();
  const Duration expected = index < its.before.size() ? its.before[index] : Duration::zero();
  if (expected < shortest_ || expected == Duration::zero()) return;
  its.noticed = next_poll(view.now, notify_poll_);
  its.end = view.now + expected;
}

void FrameGaps::frame_ended(ClientId id) {
  if (id.value >= games_.size()) return;
  Game& its = games_[id.value];
  end_gap(its);
  its.before = std::move(its.lengths);
  its.lengths.clear();
}

void FrameGaps::left(ClientId id) {
  if (id.value < games_.size()) games_[id.value] = {};
}

Duration FrameGaps::room(const GpuView& view, Duration unfinished) const {
  Duration room = kNoRoom;
  for (const ClientView& client : view.clients) {
    if (!is_rendering(client)) continue;
    if (client.id.value >= games_.size() || games_[client.id.value].noticed > view.now) return kNoRoom;
    const Duration its = games_[client.id.value].end - view.now - unfinished;
    room = room == kNoRoom ? its : std::min(room, its);
  }
  return room;
}

Time FrameGaps::noticed_at(Time now) const {
  Time earliest = kNever;
  for (const Game& game : games_)
    if (game.noticed > now) earliest = std::min(earliest, game.noticed);
  return earliest;
}

}  // namespace corun

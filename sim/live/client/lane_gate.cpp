#include "sim/live/client/lane_gate.h"

#include <algorithm>

#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/word.h"

namespace corun::live {

void LaneGate::open() {
  if (is_open_) return;
  is_open_ = true;
  lane_.gate.fetch_and(~gate::kClosed);
  must_wake_ = true;
}

void LaneGate::close(std::uint64_t limit) {
  if (!is_open_ && limit == limit_) return;
  std::uint64_t word = lane_.gate.load();
  while (!lane_.gate.compare_exchange_weak(word, gate::closed_word(gate::launches_of(word), limit))) {
  }
  const std::uint64_t taken = gate::launches_of(word);
  passed_ = std::max(passed_, is_open_ ? taken : std::min(taken, limit_));
  must_wake_ = must_wake_ || (limit > limit_ && taken > limit_);
  is_open_ = false;
  limit_ = limit;
}

bool LaneGate::has_passed(std::uint64_t number) const { return is_open_ || number < std::max(passed_, limit_); }

void LaneGate::retire(std::uint64_t first) {
  const std::uint64_t before = retired_;
  if (first == before) return;
  retired_ = first;
  lane_.retired.store(first);  // before the look at the launches, one of which may wait for it
  const std::uint64_t taken = gate::launches_of(lane_.gate.load());
  must_wake_ = must_wake_ || taken - before >= gate::kDepth;
}

bool LaneGate::is_as_set() const {
  const std::uint64_t word = lane_.gate.load();
  if (is_open_ || !gate::is_closed(word)) return is_open_ != gate::is_closed(word);
  const std::uint64_t number = gate::launches_of(word);
  return word == gate::closed_word(number, limit_);
}

void LaneGate::wake_admitted() {
  if (must_wake_) gate::announce(lane_.turn, lane_.sleepers);
  must_wake_ = false;
}

}  // namespace corun::live

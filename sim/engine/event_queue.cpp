#include "sim/engine/event_queue.h"

#include <algorithm>

namespace corun {

void EventQueue::cancel_pending(std::uint64_t order) {
  const std::uint32_t slot = slot_of(order);
  give_slot(slot);
  if (place_of_[slot] == kIsNear) {
    cancel_near(order);
  } else if (place_of_[slot] == kIsFar) {
    far_.cancelled([this](const Key& key) { return is_alive(key); });
  } else {
    cancel_in_heap(slot);
  }
}

void EventQueue::cancel_near(std::uint64_t order) {
  std::size_t gap = near_ - 1;
  while (nearest_[gap].order != order) --gap;
  std::copy(nearest_.begin() + gap + 1, nearest_.begin() + near_, nearest_.begin() + gap);
  --near_;
}

void EventQueue::cancel_in_heap(std::uint32_t slot) {
  close_hole();
  const std::size_t hole = place_of_[slot];
  const Key last = std::exchange(key(--keys_), Key{});
  if (hole == keys_) return;
  if (hole > 0 && before(last, key((hole - 1) / kArity))) {
    sift_up(hole, last);
  } else {
    sift_down(hole, last);
  }
}

void EventQueue::push_far(Key pushed) {
  far_.add(pushed);
  place_of_[slot_of(pushed.order)] = kIsFar;
}

/// Makes all events far, those at the root included, and fetches the first again.
void EventQueue::spread_out() {
  const std::vector<Siblings> lines = std::exchange(lines_, std::vector<Siblings>(2));
  const std::size_t keys = std::exchange(keys_, 0);
  const auto number = [&](std::size_t i) { return lines[(i + kArity - 1) / kArity].keys[(i + kArity - 1) % kArity]; };
  const Key first = near_ > 0 && before(nearest_[near_ - 1], number(0)) ? nearest_[near_ - 1] : number(0);
  far_.rebase(static_cast<std::uint64_t>(first.time_ns), [this](const Key& key) { return is_alive(key); });
  for (std::size_t i = 0; i < keys; ++i) push_far(number(i));
  for (; near_ > 0; --near_) push_far(nearest_[near_ - 1]);
  fetch_from_far();
}

/// The heap is empty, and nothing is near.
void EventQueue::fetch_from_far() {
  if (far_from_ns_ == UINT64_MAX && far_.size() == 0) return;
  fetched_.clear();
  far_from_ns_ = far_.take_first(kFetched, fetched_, [this](const Key& key) { return is_alive(key); });
  for (const Key& key : fetched_) {
    add_to_heap(key);
    __builtin_prefetch(&slots_[slot_of(key.order)]);
  }
  heap_limit_ = std::max(kMostInHeap, 2 * keys_);
}

}  // namespace corun

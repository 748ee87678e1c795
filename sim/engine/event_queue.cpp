#include "sim/engine/event_queue.h"

#include <algorithm>

namespace corun {

void EventQueue::cancel_pending(std::uint64_t order) {
  const std::uint32_t slot = slot_of(order);
  give_slot(slot);
  if (place_of_[slot] == kIsNear) {
    cancel_near(order);
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

}  // namespace corun

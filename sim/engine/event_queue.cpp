#include "sim/engine/event_queue.h"

#include <algorithm>

namespace corun {

bool EventQueue::cancel(EventHandle handle) {
  if (handle.slot >= slots_.size()) return false;
  const Slot& entry = slots_[handle.slot];
  if (entry.action == nullptr || entry.generation != handle.generation) return false;
  const std::size_t place = place_of_[handle.slot];
  give_slot(handle.slot);
  place == kIsNear ? cancel_near(handle.slot) : cancel_in_heap(handle.slot);
  return true;
}

void EventQueue::cancel_near(std::uint32_t slot) {
  std::size_t gap = near_ - 1;
  while (slot_of(nearest_[gap]) != slot) --gap;
  std::copy(&nearest_[gap + 1], &nearest_[near_], &nearest_[gap]);
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

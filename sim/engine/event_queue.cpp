#include "sim/engine/event_queue.h"

namespace corun {

bool EventQueue::cancel(EventHandle handle) {
  if (handle.slot >= slots_.size()) return false;
  const Slot& entry = slots_[handle.slot];
  if (entry.action == nullptr || entry.generation != handle.generation) return false;
  close_hole();
  const std::size_t hole = place_of_[handle.slot];
  give_slot(handle.slot);
  const Key last = std::exchange(key(--keys_), Key{});
  if (hole == keys_) return true;
  if (hole > 0 && before(last, key((hole - 1) / kArity))) {
    sift_up(hole, last);
  } else {
    sift_down(hole, last);
  }
  return true;
}

}  // namespace corun

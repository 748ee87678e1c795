#include "sim/engine/event_queue.h"

#include "traces/base/error.h"

namespace corun {

EventHandle EventQueue::push(Time time, Phase phase, EventAction action, void* subject, std::uint64_t argument) {
  const std::uint32_t slot = take_slot();
  Slot& entry = slots_[slot];
  entry.action = action;
  entry.subject = subject;
  entry.argument = argument;
  CORUN_ASSERT(next_sequence_ >> kSequenceBits == 0, "{} events were scheduled in one run", next_sequence_);
  const std::uint64_t phase_bits = std::uint64_t{static_cast<std::uint8_t>(phase)} << kSequenceBits;
  const Key key{to_ns(time), (phase_bits | next_sequence_++) << kSlotBits | slot};
  if (root_is_hole_) {
    root_is_hole_ = false;
    sift_down(0, key);
  } else {
    heap_.push_back(key);
    sift_up(heap_.size() - 1, key);
  }
  return {slot, entry.generation};
}

bool EventQueue::cancel(EventHandle handle) {
  if (handle.slot >= slots_.size()) return false;
  const Slot& entry = slots_[handle.slot];
  if (entry.action == nullptr || entry.generation != handle.generation) return false;
  close_hole();
  const std::size_t index = heap_index_[handle.slot];
  give_slot(handle.slot);
  const Key last = heap_.back();
  heap_.pop_back();
  if (index == heap_.size()) return true;
  if (index > 0 && before(last, heap_[(index - 1) / kArity])) {
    sift_up(index, last);
  } else {
    sift_down(index, last);
  }
  return true;
}

Time EventQueue::next_time() {
  close_hole();
  return heap_.empty() ? kNever : time_from_ns(heap_.front().time_ns);
}

EventQueue::Event EventQueue::pop() {
  close_hole();
  CORUN_ASSERT(!heap_.empty(), "pop of an empty event queue");
  const Key key = heap_.front();
  const Slot& entry = slots_[slot_of(key)];
  const auto phase = static_cast<Phase>(key.order >> (kSequenceBits + kSlotBits));
  const Event event{time_from_ns(key.time_ns), phase, entry.action, entry.subject, entry.argument};
  give_slot(slot_of(key));
  root_is_hole_ = true;
  return event;
}

std::uint32_t EventQueue::take_slot() {
  if (free_.empty()) {
    CORUN_ASSERT(slots_.size() <= kMaxSlot, "{} events are pending", slots_.size());
    slots_.emplace_back();
    heap_index_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void EventQueue::give_slot(std::uint32_t slot) {
  slots_[slot].action = nullptr;
  ++slots_[slot].generation;
  free_.push_back(slot);
}

void EventQueue::close_hole() {
  if (!root_is_hole_) return;
  root_is_hole_ = false;
  const Key last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

// Both walks move a hole instead of swapping: one write per level, and the key lands once.
void EventQueue::sift_up(std::size_t hole, Key key) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(key, heap_[parent])) break;
    place(hole, heap_[parent]);
    hole = parent;
  }
  place(hole, key);
}

void EventQueue::sift_down(std::size_t hole, Key key) {
  for (std::size_t first = 1 + hole * kArity; first < heap_.size(); first = 1 + hole * kArity) {
    const std::size_t least = least_child(first);
    if (!before(heap_[least], key)) break;
    place(hole, heap_[least]);
    hole = least;
  }
  place(hole, key);
}

// Four children are compared as a tournament, which compiles to conditional moves: their order is unpredictable.
std::size_t EventQueue::least_child(std::size_t first) const {
  const Key* child = &heap_[first];
  if (first + kArity <= heap_.size()) {
    const std::size_t left = before(child[1], child[0]) ? 1 : 0;
    const std::size_t right = before(child[3], child[2]) ? 3 : 2;
    return first + (before(child[right], child[left]) ? right : left);
  }
  std::size_t least = first;
  for (std::size_t i = first + 1; i < heap_.size(); ++i) {
    if (before(heap_[i], heap_[least])) least = i;
  }
  return least;
}

}  // namespace corun

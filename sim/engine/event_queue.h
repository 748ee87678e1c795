#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/event_key.h"
#include "sim/engine/far_events.h"
#include "traces/base/error.h"
#include "traces/base/time.h"

namespace corun {

/// Order within an instant. Each phase has a reason to come where it does.
enum class Phase : std::uint8_t {
  kCompletion = 0,  ///< the device frees what has finished first
  kArrival = 1,     ///< then hosts submit
  kTimer = 2,       ///< then clocks that were set ring
  kDecide = 3,      ///< then the policy sees the whole instant, once
  kSample = 4,      ///< then metrics see the result
};

/// What an event does: a plain function with its subject and one number, so that no event allocates.
using EventAction = void (*)(void* subject, std::uint64_t argument);

/// Names a scheduled event. A default or stale handle is harmless: cancelling it does nothing.
struct EventHandle {
  std::uint64_t order = UINT64_MAX;  ///< of the event's key: no other event of the run has it
};

/// Pending events of a run, ordered by (time, phase, sequence): a 4-ary heap of 16-byte keys over reused slots, and
/// behind it, once it has thousands, a store of those that lie too far ahead to be ordered yet.
///
/// Sequence numbers make ties first in, first out. Four siblings are one cache line, and places without a key hold one
/// that is later than all, so that a walk down compares without looking for the end. A pop leaves a hole at the root
/// that the next push fills, since most events schedule a successor: one walk instead of two. What comes before the
/// whole heap when it is pushed never enters it: a few such events are kept apart, in order. Most of what is
/// scheduled for the present instant, and all of a small run, is of that kind. Cancelling is O(log n) and really
/// removes: a key left behind would cost its walk later, and times change at almost every event.
///
/// A heap of more than kMostInHeap keys costs a miss of the cache for each level. So it is spread out then: its keys go
/// to FarEvents, and about kFetched of them come back each time that it is empty. From then on, what lies at or after
/// the time up to which they were fetched is far, and the heap is short. Limits, asserted: 2^24 events pending at a
/// time, 2^37 pushed in all.
class EventQueue {
 public:
  struct Event {
    Time time;
    Phase phase;
    EventAction action;
    void* subject;
    std::uint64_t argument;
  };

  EventHandle push(Time time, Phase phase, EventAction action, void* subject, std::uint64_t argument);
  bool cancel(EventHandle handle);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return near_ + keys_ - (root_is_hole_ ? 1 : 0) + far_.size(); }
  Time next_time();  ///< kNever if empty
  Event pop();       ///< the earliest; must not be empty
  /// Whether an event pushed now for that time and phase would be the earliest.
  bool would_be_first(Time time, Phase phase);

 private:
  using Key = EventKey;
  struct alignas(64) Siblings {
    Key keys[4];
  };
  struct Slot {
    EventAction action = nullptr;
    void* subject = nullptr;
    std::uint64_t argument = 0;      ///< of a free slot: the next one that is free
    std::uint64_t order = kNoOrder;  ///< of the event; kNoOrder while the slot is free
  };

  static std::uint64_t bits_of(Phase phase) { return std::uint64_t{static_cast<std::uint8_t>(phase)} << kSequenceBits; }
  static std::uint32_t slot_of(std::uint64_t order) { return static_cast<std::uint32_t>(order & kMaxSlot); }
  /// Keys by their number in the heap. The root has a line of its own; the children of `i` are line i + 1.
  Key& key(std::size_t i) { return lines_[(i + kArity - 1) / kArity].keys[(i + kArity - 1) % kArity]; }
  void place(std::size_t i, const Key& placed) {
    key(i) = placed;
    place_of_[slot_of(placed.order)] = static_cast<std::uint32_t>(i);
  }
  std::uint32_t take_slot();
  void give_slot(std::uint32_t slot);
  bool precedes_heap(const Key& earlier) const;
  bool is_near_first() const { return near_ > 0 && precedes_heap(nearest_[near_ - 1]); }
  void push_near(Key pushed);
  void cancel_pending(std::uint64_t order);
  void cancel_near(std::uint64_t order);
  void cancel_in_heap(std::uint32_t slot);
  void push_into_heap(Key pushed);
  void add_to_heap(Key added);
  void push_far(Key pushed);  // by value: a key that is passed in registers is not read back from memory
  void spread_out();
  void fetch_from_far();
  bool is_alive(const Key& key) const { return slots_[slot_of(key.order)].order == key.order; }
  void close_hole();
  void sift_up(std::size_t hole, Key key);
  void sift_down(std::size_t hole, Key key);

  static constexpr int kSlotBits = 24;
  static constexpr int kSequenceBits = 37;
  static constexpr std::uint64_t kMaxSlot = (1u << kSlotBits) - 1;
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kMostNear = 16;
  static constexpr std::uint32_t kIsNear = UINT32_MAX;
  static constexpr std::uint32_t kIsFar = UINT32_MAX - 1;
  static constexpr std::size_t kMostInHeap = 2048;  ///< 32 KiB of keys
  static constexpr std::size_t kFetched = 64;
  static constexpr std::uint64_t kNoOrder = UINT64_MAX - 1;
  static constexpr std::uint64_t kNoSlot = UINT64_MAX;

  std::array<Key, kMostNear> nearest_;  ///< latest first
  std::size_t near_ = 0;                ///< how many they are
  std::vector<Siblings> lines_ = std::vector<Siblings>(2);
  std::size_t keys_ = 0;                 ///< in the heap, the hole included
  std::vector<std::uint32_t> place_of_;  ///< in the heap, by slot; or kIsNear or kIsFar
  std::vector<Slot> slots_;
  std::uint64_t free_ = kNoSlot;  ///< the slot that became free last
  std::uint64_t next_sequence_ = 0;
  bool root_is_hole_ = false;
  std::uint64_t far_from_ns_ = UINT64_MAX;  ///< events at or after that are far, and no others
  std::size_t heap_limit_ = kMostInHeap;    ///< keys in the heap from which on it is spread, unless more are far
  FarEvents far_;
  std::vector<Key> fetched_;  ///< from there, while they are put into the heap
};

// Here rather than in a file of its own, so that the loop of the engine has them inline.

inline EventHandle EventQueue::push(Time time, Phase phase, EventAction action, void* subject, std::uint64_t argument) {
  const std::uint32_t slot = take_slot();
  Slot& entry = slots_[slot];
  entry.action = action;
  entry.subject = subject;
  entry.argument = argument;
  CORUN_ASSERT(next_sequence_ >> kSequenceBits == 0, "{} events were scheduled in one run", next_sequence_);
  const Key pushed{to_ns(time), (bits_of(phase) | next_sequence_++) << kSlotBits | slot};
  entry.order = pushed.order;
  if (static_cast<std::uint64_t>(pushed.time_ns) >= far_from_ns_) {
    push_far(pushed);
  } else if (near_ < kMostNear && precedes_heap(pushed)) {
    push_near(pushed);
  } else {
    push_into_heap(pushed);
  }
  return {pushed.order};
}

inline bool EventQueue::cancel(EventHandle handle) {
  const std::uint32_t slot = slot_of(handle.order);
  if (slot >= slots_.size() || slots_[slot].order != handle.order) return false;
  cancel_pending(handle.order);
  return true;
}

inline bool EventQueue::precedes_heap(const Key& earlier) const {
  if (!root_is_hole_) return before(earlier, lines_[0].keys[kArity - 1]);
  const Key* child = lines_[1].keys;
  return before(earlier, child[0]) & before(earlier, child[1]) & before(earlier, child[2]) & before(earlier, child[3]);
}

inline void EventQueue::push_near(Key pushed) {
  std::size_t place = near_++;
  for (; place > 0 && before(nearest_[place - 1], pushed); --place) nearest_[place] = nearest_[place - 1];
  nearest_[place] = pushed;
  place_of_[slot_of(pushed.order)] = kIsNear;
}

inline void EventQueue::push_into_heap(Key pushed) {
  if (root_is_hole_) {
    root_is_hole_ = false;
    sift_down(0, pushed);
  } else {
    add_to_heap(pushed);
    if (keys_ >= heap_limit_ && keys_ > far_.size()) spread_out();
  }
}

inline void EventQueue::add_to_heap(Key added) {
  if (keys_ + kArity - 1 == kArity * lines_.size()) lines_.emplace_back();
  sift_up(keys_++, added);
}

inline bool EventQueue::would_be_first(Time time, Phase phase) {
  if (static_cast<std::uint64_t>(to_ns(time)) >= far_from_ns_) next_time();  // which fetches what precedes
  const Key pushed{to_ns(time), (bits_of(phase) | next_sequence_) << kSlotBits};
  return (near_ == 0 || before(pushed, nearest_[near_ - 1])) && precedes_heap(pushed);
}

inline Time EventQueue::next_time() {
  if (is_near_first()) return time_from_ns(nearest_[near_ - 1].time_ns);
  close_hole();
  if (keys_ == 0) fetch_from_far();
  return keys_ == 0 ? kNever : time_from_ns(key(0).time_ns);
}

inline EventQueue::Event EventQueue::pop() {
  Key first;
  if (is_near_first()) {
    first = nearest_[--near_];
  } else {
    close_hole();
    if (keys_ == 0) fetch_from_far();
    CORUN_ASSERT(keys_ > 0, "pop of an empty event queue");
    first = key(0);
    root_is_hole_ = true;
  }
  const Slot& entry = slots_[slot_of(first.order)];
  const auto phase = static_cast<Phase>(first.order >> (kSequenceBits + kSlotBits));
  const Event event{time_from_ns(first.time_ns), phase, entry.action, entry.subject, entry.argument};
  give_slot(slot_of(first.order));
  return event;
}

inline std::uint32_t EventQueue::take_slot() {
  if (free_ == kNoSlot) {
    CORUN_ASSERT(slots_.size() <= kMaxSlot, "{} events are pending", slots_.size());
    slots_.emplace_back();
    place_of_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const auto slot = static_cast<std::uint32_t>(free_);
  free_ = slots_[slot].argument;
  return slot;
}

inline void EventQueue::give_slot(std::uint32_t slot) {
  slots_[slot].order = kNoOrder;
  slots_[slot].argument = free_;
  free_ = slot;
}

inline void EventQueue::close_hole() {
  if (!root_is_hole_) return;
  root_is_hole_ = false;
  const Key last = std::exchange(key(--keys_), Key{});
  if (keys_ > 0) sift_down(0, last);
}

// Both walks move a hole instead of swapping: one write per level, and the key lands once.
inline void EventQueue::sift_up(std::size_t hole, Key moved) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(moved, key(parent))) break;
    place(hole, key(parent));
    hole = parent;
  }
  place(hole, moved);
}

// Siblings are compared as a tournament whose outcomes are added up: their order is unpredictable, so no branch.
inline void EventQueue::sift_down(std::size_t hole, Key moved) {
  while (hole + 1 < lines_.size()) {
    const Key* child = lines_[hole + 1].keys;
    const std::size_t left = std::size_t{before(child[1], child[0])};
    const std::size_t right = 2 + std::size_t{before(child[3], child[2])};
    const std::size_t least = left + (right - left) * std::size_t{before(child[right], child[left])};
    if (!before(child[least], moved)) break;
    place(hole, child[least]);
    hole = 1 + hole * kArity + least;
  }
  place(hole, moved);
}

}  // namespace corun

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t generation = 0;
};

/// Pending events of a run, ordered by (time, phase, sequence): a 4-ary heap of 16-byte keys over reused slots.
///
/// Cancelling is O(log n) and really removes. Sequence numbers make ties first in, first out. A pop leaves a hole at
/// the root that the next push fills, since most events schedule a successor: one walk instead of two.
/// Limits, asserted: 2^24 events pending at a time, 2^37 pushed in all.
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
  std::size_t size() const { return heap_.size() - (root_is_hole_ ? 1 : 0); }
  Time next_time();        ///< kNever if empty
  Event pop();             ///< the earliest; must not be empty

 private:
  struct Key {
    std::int64_t time_ns;
    std::uint64_t order;  ///< phase, sequence and slot, from the top: 3, 37 and 24 bits
  };
  struct Slot {
    EventAction action = nullptr;  ///< null while the slot is free
    void* subject = nullptr;
    std::uint64_t argument = 0;
    std::uint32_t generation = 0;
  };

  static bool before(const Key& a, const Key& b) {
    return (a.time_ns < b.time_ns) | ((a.time_ns == b.time_ns) & (a.order < b.order));
  }
  static std::uint32_t slot_of(const Key& key) { return static_cast<std::uint32_t>(key.order & kMaxSlot); }
  void place(std::size_t index, const Key& key) {
    heap_[index] = key;
    heap_index_[slot_of(key)] = static_cast<std::uint32_t>(index);
  }
  std::uint32_t take_slot();
  void give_slot(std::uint32_t slot);
  void close_hole();
  void sift_up(std::size_t hole, Key key);
  void sift_down(std::size_t hole, Key key);
  std::size_t least_child(std::size_t first) const;

  static constexpr int kSlotBits = 24;
  static constexpr int kSequenceBits = 37;
  static constexpr std::uint64_t kMaxSlot = (1u << kSlotBits) - 1;
  static constexpr std::size_t kArity = 4;

  std::vector<Key> heap_;
  std::vector<std::uint32_t> heap_index_;  ///< by slot
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t next_sequence_ = 0;
  bool root_is_hole_ = false;
};

}  // namespace corun

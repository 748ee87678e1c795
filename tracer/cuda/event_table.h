#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace corun::cupti {

/// One record of an event: `event` is the event's number, from 1 on, and `sync` that of the record, which counts up
/// over all events. Both 0: not known.
struct EventMark {
  std::uint32_t event = 0;
  std::uint64_t sync = 0;
};

/// What events were last recorded, by their handles. Memory is bounded and touched only where it is used; events for
/// which there is no place are not known. Any thread, no locks: a program that waits on one thread for what another
/// one recorded has put the two in order itself.
///
/// An event's place is never given up, and so passes on to the event that gets its handle later.
class EventTable {
 public:
  /// False where there is no memory for it: then no event is known.
  bool map();

  /// The event is recorded anew.
  EventMark record(const void* event);
  /// The event is recorded again, at an unknown place.
  void forget(const void* event);
  EventMark last(const void* event) const;

  static constexpr std::size_t kSlots = 65'536;

 private:
  // In memory that was zero; both are only used through atomic_ref.
  struct Slot {
    std::uintptr_t event;  // 0: free
    std::uint64_t sync;
  };

  Slot* find(const void* event, bool is_added) const;

  Slot* slots_ = nullptr;
  std::atomic<std::uint64_t> syncs_{0};
};

}  // namespace corun::cupti

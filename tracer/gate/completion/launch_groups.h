#pragma once

#include <cstdint>

#include "tracer/gate/driver/driver.h"

namespace corun::gate {

struct TrackedStream;

/// Launches of one stream in a row, between two CUDA events: what they took is known together.
struct LaunchGroup {
  static constexpr std::uint32_t kMostLaunches = 64;

  void* context;
  const TrackedStream* stream;  ///< once it is closed; groups of one stream end in the order of closing
  void *begin, *end;            ///< events
  LaunchGroup* before;          ///< not seen to end, and its end is where this one begins; `begin` is then not used
  LaunchGroup* next;            ///< whose `before` this is
  std::int64_t opened_ns, closed_ns;
  std::uint32_t count;
  std::uint64_t numbers[kMostLaunches];
  bool is_used;
};

/// Room for launch groups and their events. One thread at a time.
class LaunchGroups {
 public:
  static constexpr std::uint32_t kMost = 1024;

  /// `driver` is loaded before the first call, and outlives this.
  explicit constexpr LaunchGroups(const Driver& driver) : driver_(driver) {}

  /// An empty group of this context; null where there is no room, or the driver has no events.
  LaunchGroup* make(void* context);
  /// Begins the group in the stream: with an event of its own, or at the end of `last`, the group that was closed in
  /// the stream last, where that is less than 20 us ago: that saves an event. False where the driver refuses the event.
  bool begin(LaunchGroup& group, LaunchGroup* last, const TrackedStream& stream);
  /// The group and its events may be used again. The group behind it takes over the event that both need.
  void release(LaunchGroup& group);
  /// The context has ended, and its events with it.
  void forget_context(const void* context);
  const LaunchGroup* begin() const { return groups_; }
  const LaunchGroup* end() const { return groups_ + kMost; }

 private:
  const Driver& driver_;
  LaunchGroup groups_[kMost] = {};
};

}  // namespace corun::gate

#pragma once

#include <cstdint>

#include "tracer/gate/channel/link.h"
#include "tracer/gate/completion/launch_groups.h"

namespace corun::gate {

/// Writes the ends of this process's launches into its slot, and wakes the scheduler. One thread at a time.
class EndWriter {
 public:
  /// To be called first, once the process has its slot.
  void start(const GateLink& link);

  static constexpr std::int64_t kUnknownNs = -1;
  /// The group was seen to end now. What it took, if known, counts for its launches equally, one after another.
  void write_group(const LaunchGroup& group, std::int64_t took_ns);
  /// Its launches count as complete: their end was not seen.
  void write_unobserved(const LaunchGroup& group);
  void write_unobserved(std::uint64_t number);
  /// The launch ended with its call, now. It began when the one before ended, but not before it was submitted.
  void write_ended_now(std::uint64_t number);

  Lane& lane() const { return link_->lane(); }
  /// Mean device time of a launch, newer ones counting more.
  std::int64_t typical_ns() const { return link_->slot().typical_ns; }
  std::int64_t submitted_ns(std::uint64_t number) const { return lane().launches[number % kDepth].submitted_ns; }

 private:
  void write_each(const LaunchGroup& group, std::int64_t took_ns);
  void write(std::uint64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t device_ns,
             std::uint32_t group);
  void ring();

  const GateLink* link_ = nullptr;
  std::int64_t last_end_ns_ = 0;
};

}  // namespace corun::gate

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/executor/host/wall_clock.h"
#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/process.h"
#include "traces/base/time.h"

namespace corun::live {

/// Reads what the processes of one client write into its lane: launches, their ends, and moments of frames, each once
/// and in order. Takes back the slots of processes that have died. One thread.
///
/// An entry that was taken and not filled within 100 ms counts as abandoned: its process has died in between.
class LaneReader {
 public:
  struct LaunchEntry {
    std::uint64_t number;        ///< in the lane
    const gate::Launch* launch;  ///< until it is retired; null: abandoned, or of a process that has died
  };
  /// Ends of launches whose time is known together: [begin, end) of what their process has written.
  struct EndGroup {
    std::uint32_t slot;
    std::uint64_t begin, end;
  };
  struct FrameMark {
    gate::FrameMoment moment;
    std::uint64_t number;
    Time at, gpu_end;
    Duration gpu_busy;  ///< zero: not known
  };

  LaneReader(gate::Lane& lane, const executor::WallClock& clock) : lane_(lane), clock_(clock) {}

  /// The next launch; nullopt: there is none yet.
  std::optional<LaunchEntry> read_launch();
  /// Passes over all launches so far. Returns the number of the next.
  std::uint64_t skip_launches();
  /// The next moment of a frame; nullopt: there is none yet.
  std::optional<FrameMark> read_frame();

  std::uint32_t slots_used() const;
  /// Ends that the process of this slot has written so far.
  std::uint64_t ends_written(std::uint32_t slot) const;
  /// The next ends of this slot, if all of them are among the first `written`. They are read again until taken.
  std::optional<EndGroup> next_ends(std::uint32_t slot, std::uint64_t written) const;
  void take(const EndGroup& ends) { ends_read_[ends.slot] = ends.end; }
  /// Number in the lane of the launch that ended at this place, and what its process says of it.
  std::uint64_t ended(std::uint32_t slot, std::uint64_t place) const;
  const gate::Launch& launch(std::uint64_t number) const { return lane_.launches[number % gate::kDepth]; }

  /// Whether the process that had this slot then (Launch::slot) still has it.
  bool is_present(std::uint32_t slot_mark) const;
  std::vector<std::uint32_t> dead_slots() const;
  /// Passes over what the slot's process has written: it is present no longer.
  void forget_process(std::uint32_t slot);
  /// Afterwards, another process may take the slot.
  void free_slot(std::uint32_t slot) { lane_.slots[slot].process.store(gate::kNoProcess); }
  /// The process that wrote the client's frames, where it has died.
  std::optional<std::uint32_t> dead_frame_process() const;
  /// Afterwards, another process may write them.
  void free_frames(std::uint32_t process) { lane_.frame_process.compare_exchange_strong(process, gate::kNoProcess); }

  /// A name of the lane, readable, as captures hold it. Lives as long as this.
  std::string_view name(std::uint32_t number);

 private:
  /// Notices that an entry stays empty.
  class EmptyEntry {
   public:
    /// Whether this entry, of those that follow one another, has been found empty for too long.
    bool is_abandoned(std::uint64_t entry, Time now);

   private:
    std::uint64_t entry_ = UINT64_MAX;
    Time since_;
  };

  gate::Lane& lane_;
  const executor::WallClock& clock_;
  std::uint64_t launches_read_ = 0;
  std::array<std::uint64_t, gate::kMostProcesses> ends_read_{};  // by slot
  std::uint64_t frames_read_ = 0;
  EmptyEntry empty_launch_, empty_frame_;
  std::deque<std::string> names_;  // by their numbers in the lane
};

}  // namespace corun::live

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/executor/host/wall_clock.h"
#include "sim/live/client/lane_checks.h"
#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/process.h"
#include "traces/base/time.h"

namespace corun::live {

/// Reads what the processes of one client write into its lane: launches, their ends, and moments of frames, each once
/// and in order. Takes back the slots of processes that have died. One thread.
///
/// The programs may write anywhere: everything is copied, then checked. Of a lane that holds what no gate writes,
/// nothing more is read, and fault() says what it was.
///
/// An entry that was taken and not filled within 100 ms counts as abandoned: its process has died in between.
class LaneReader {
 public:
  /// What a process says of a launch.
  struct Said {
    gate::LaunchKind kind;
    Time submitted;
    std::uint32_t name, stream, slot_mark;
    std::uint64_t blocks, bytes;
  };
  struct LaunchEntry {
    std::uint64_t number;      ///< in the lane
    std::optional<Said> said;  ///< nullopt: abandoned, or of a process that has died
  };
  struct End {
    std::uint64_t number;  ///< of the launch, in the lane
    Time at;
    Duration device_time;
  };
  /// Ends of launches whose time is known together, as their process has written them one after another.
  struct EndGroup {
    std::uint32_t slot;
    std::vector<End> ends;
  };
  struct FrameMark {
    gate::FrameMoment moment;
    std::uint64_t number;
    Time at, gpu_end;
    Duration gpu_busy;  ///< zero: not known
  };

  LaneReader(gate::Lane& lane, const executor::WallClock& clock) : lane_(lane), clock_(clock), checks_(clock) {}

  /// Why nothing more is read; "" = nothing is wrong.
  const std::string& fault() const { return checks_.fault(); }
  /// What a caller has found.
  LaneChecks& checks() { return checks_; }

  /// The next launch, where those below `retired` are; nullopt: there is none yet.
  std::optional<LaunchEntry> read_launch(std::uint64_t retired);
  /// Passes over all launches so far. Returns the number of the next.
  std::uint64_t skip_launches();
  bool has_frames() const { return frames_read_ < lane_.frame_count.load(); }
  /// The next moment of a frame; nullopt: there is none yet.
  std::optional<FrameMark> read_frame();
  /// When the first frame ended whose end is to be read; nullopt: there is none yet.
  std::optional<Time> next_frame_end();

  std::uint32_t slots_used() const;
  /// Ends that the process of this slot has written so far.
  std::uint64_t ends_written(std::uint32_t slot) const;
  /// The next ends of this slot, if all of them are among the first `written`. They are read again until taken.
  std::optional<EndGroup> next_ends(std::uint32_t slot, std::uint64_t written);
  void take(const EndGroup& group) { ends_read_[group.slot] += group.ends.size(); }

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

  static constexpr std::uint64_t kMostWaiting = 1 << 20;  // threads that wait for an entry

  const gate::Launch& launch(std::uint64_t number) const { return lane_.launches[number % gate::kDepth]; }
  std::optional<Said> read_said(std::uint64_t number);
  std::optional<FrameMark> read_mark(const gate::FrameRecord& record);
  std::optional<Time> end_of(const gate::FrameRecord& record);

  gate::Lane& lane_;
  const executor::WallClock& clock_;
  LaneChecks checks_;
  std::uint64_t launches_read_ = 0;
  std::array<std::uint64_t, gate::kMostProcesses> ends_read_{};  // by slot
  std::uint64_t frames_read_ = 0;
  EmptyEntry empty_launch_, empty_frame_;
  std::deque<std::string> names_;  // by their numbers in the lane
  std::size_t name_bytes_ = 0;     // of all of them in the lane
};

}  // namespace corun::live

#pragma once

#include <cstdint>

#include "tracer/gate/channel/channel.h"

namespace corun::gate {

/// A guest's end of a gate: finds it by the environment, checks whether the scheduler is alive, rings its bell.
/// Any thread. It stays mapped, since other threads may be in it until the process ends.
class GateLink {
 public:
  /// False where the environment names no gate, its run is over, or it cannot be had within a second: that is said on
  /// the program's standard error.
  bool open();
  /// The same within 50 ms and silently, for what can do without.
  bool open_at_once();
  bool is_open() const { return lane_ != nullptr; }
  /// Unmaps it. No other thread may be in it.
  void close();

  Lane& lane() const { return *lane_; }
  bool is_over() const { return lane().is_over.load(std::memory_order_acquire) != 0; }
  /// False once the scheduler has died or hangs.
  bool has_scheduler() const;
  /// Wakes the scheduler if it sleeps.
  void ring() const;
  /// Reports a frame to the scheduler, unless another process has taken the client's frames, or it is too far behind:
  /// then that is counted. kEnd: what the frame took on the GPU began at `gpu_begin_ns`; 0 = not known.
  void tell_frame(FrameMoment moment, std::uint64_t frame, std::int64_t at_ns, std::int64_t gpu_begin_ns = 0) const;
  /// Takes the frames of the client for this process, until a newer one does; false where another library in it has
  /// them.
  bool claim_frames(FrameTeller teller);
  /// Takes a slot for this process; false where others of its client have them all.
  bool take_slot();
  /// Gives up those of the program in whose place this one was started (exec).
  void leave_former_slots() const;
  /// After that.
  Slot& slot() const { return lane().slots[slot_]; }
  std::uint32_t slot_mark() const { return mark_; }

 private:
  enum class Found : std::uint8_t { kGate, kNone, kFailed };
  Found find(std::int64_t patience_ns);
  Found map(std::int64_t patience_ns);
  bool take_empty_slot(std::uint32_t own);
  bool has_frames(FrameMoment moment) const;

  GateCommon* common_ = nullptr;
  Lane* lane_ = nullptr;
  std::uint64_t frame_mark_ = 0;  ///< in Lane::frame_teller, once claimed
  std::uint32_t slot_ = 0, mark_ = 0;
  char path_[256] = {};
};

}  // namespace corun::gate

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/live/device_use.h"
#include "sim/live/profile.h"
#include "sim/workload/client_spec.h"
#include "tracer/gate/channel/channel.h"

namespace corun::live {

/// Notices that a place in shared memory was taken by somebody who died before filling it.
class Unfilled {
 public:
  /// Whether `place`, of those that follow one another, has been asked for in vain for so long that nobody will fill
  /// it.
  bool is_abandoned(std::uint64_t place, Time now);

 private:
  std::uint64_t place_ = UINT64_MAX;
  Time since_;
};

/// One client as its lane of the gate file tells: launches become submissions, ends completions, frame records frames.
///
/// All of its processes have launches in one order and one gate; each tells the ends of its own. One that dies takes
/// what it had in flight with it, and what it had waiting: of the others', the arbiter then hears anew.
///
/// It numbers submissions for the arbiter, rendering among them; those that were never launched are used again.
/// Rendering passes whatever the gate is, and is not told where launches wait there.
class LiveClient {
 public:
  LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, const executor::WallClock& clock,
             Recorder& recorder);

  /// Tells the arbiter everything that is new in the lane. True if there was something.
  bool hear(Arbiter& arbiter, DeviceUse& use);
  /// The arbiter lets submission `number` pass.
  void launch(std::uint64_t number);
  /// To be called after every decision. Tells the arbiter what has passed though it waits there, and makes the gate in
  /// the client's process what the arbiter's is, launches that the policy admits ahead included.
  void follow(Arbiter& arbiter);
  /// The program renders its next frames at this level of its menu.
  void set_quality(std::uint32_t level) { quality_level_ = level; }
  /// Wakes those whom launch() and follow() have let pass.
  void wake_the_admitted();
  /// Whether launches may pass its closed gate that the policy has promised to admit.
  bool has_promise() const { return !is_open_ && limit_ > launched_; }
  /// Hears what processes that have died still told. What they had in flight then counts as lost, what they had waiting
  /// as never launched. True if there were any.
  bool lose_the_dead(Arbiter& arbiter, DeviceUse& use);
  /// The same for all of them, dead or not: the client leaves.
  void lose_all(Arbiter& arbiter, DeviceUse& use);
  /// The same where the policy has refused it: the arbiter wants to hear of no launch any more.
  void turn_away(Arbiter& arbiter, DeviceUse& use);

  const std::string& name() const { return spec_.name; }
  /// Nothing that has not been heard of yet began before this, as long as it is not heard of very late.
  Time oldest_unfinished() const;
  std::uint64_t jobs_finished() const { return jobs_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t graphs() const { return graphs_; }  ///< among these
  /// When its first launch was made, or its first frame began; kNever before.
  Time first_work() const { return first_work_; }
  std::uint64_t slipped() const { return slipped_; }
  /// When a launch at a closed gate was heard of last; kNever before the first.
  Time last_question() const { return last_question_; }
  const std::vector<Duration>& heard_late() const { return heard_late_; }

 private:
  struct Op {
    std::uint64_t number = 0;  ///< for the arbiter
    Time submitted, launched = kNever;
    OpKind kind = OpKind::kKernel;
    std::uint32_t name = 0, stream = 0, slot = 0;
    bool is_complete = false;
    bool is_void = false;                  ///< of nobody: the arbiter knows nothing of it
    Duration expected = kUnknownDuration;  ///< by the profile
  };

  /// A frame that was handed over, whose rendering the arbiter knows as an operation, mostly.
  struct Frame {
    FrameFact fact;
    std::optional<std::uint64_t> operation;
  };

  bool hear_frames(Arbiter& arbiter, DeviceUse& use);
  bool hear_launches(Arbiter& arbiter);
  void hear_launch(const gate::Launch& launch, Arbiter& arbiter);
  bool is_of_present(std::uint32_t slot_mark) const;
  void leave_out();
  void pass_by_void();
  bool hear_ends(Arbiter& arbiter, DeviceUse& use);
  bool hear_ends_of(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use);
  std::uint64_t number_ended(std::uint32_t slot, std::uint64_t end) const;
  const gate::Launch& ended(std::uint32_t slot, std::uint64_t end) const;
  Op* op_ended(std::uint32_t slot, std::uint64_t end);
  bool can_hear_group(std::uint32_t slot, std::uint64_t told);
  void hear_group(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use);
  bool has_passed(std::uint64_t in_lane) const { return is_open_ || in_lane < std::max(passed_, limit_); }
  void tell_what_slipped(Arbiter& arbiter);
  void open_gate();
  void close_gate(std::uint64_t limit);
  OpView view_of(const gate::Launch& launch);
  void complete(Op& op, Time begin, Time end, Duration device_time, bool is_lost, Arbiter& arbiter);
  void count_launch(Time end);
  void on_frame(const gate::FrameRecord& record, Arbiter& arbiter, DeviceUse& use);
  void submit_render(Frame& frame, Time at, Arbiter& arbiter);
  void complete_render(Frame& frame, Duration device_time, Arbiter& arbiter);
  void begin_frame(Time at, Arbiter& arbiter);
  void end_frame(const gate::FrameRecord& record, Arbiter& arbiter, DeviceUse& use);
  void lose_process(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use);
  void submit_anew(Arbiter& arbiter);
  void lose(Op& op, Arbiter& arbiter);
  void lose_frames(Arbiter& arbiter);
  void give_up(Arbiter& arbiter);
  void retire();
  std::string_view name_of(std::uint32_t number);

  const ClientId id_;
  const ClientSpec& spec_;
  gate::Lane& lane_;
  const executor::WallClock& clock_;
  Recorder& recorder_;
  Profile profile_;
  const std::uint64_t launches_per_job_;

  std::deque<std::string> names_;  // by their numbers in the lane, as people write them
  std::deque<Op> ops_;             // heard and not retired; the first is the lane's `first_`
  std::uint64_t first_ = 0;        // number in the lane
  std::uint64_t next_ = 0;         // in the lane: the next to be heard
  std::uint64_t next_number_ = 0;  // for the arbiter
  std::array<std::uint64_t, gate::kMostProcesses> ends_heard_{};  // by slot
  std::uint64_t frames_heard_ = 0;
  Unfilled unfilled_launch_, unfilled_frame_;
  std::uint64_t launched_ = 0;  // in the lane: below it, the arbiter has launched
  std::uint64_t passed_ = 0;    // in the lane: below it, launches passed an open gate, or one whose limit was higher
  std::uint64_t limit_ = 0;     // in the lane: below it, launches pass the closed gate
  bool is_open_ = false;
  bool must_wake_ = false;
  Time last_question_ = kNever;
  std::deque<Frame> frames_;  // handed over; the first is being rendered
  std::uint32_t quality_level_;
  Time job_begin_ = kNever;
  std::uint64_t job_launches_ = 0;
  std::uint64_t jobs_ = 0, launches_ = 0, graphs_ = 0, slipped_ = 0;
  Time first_work_ = kNever;
  std::vector<Duration> heard_late_;
};

}  // namespace corun::live

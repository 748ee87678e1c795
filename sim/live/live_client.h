#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/wall_clock.h"
#include "sim/live/device_use.h"
#include "sim/live/profile.h"
#include "sim/workload/client_spec.h"
#include "tracer/gate/gate_channel.h"

namespace corun::live {

/// One client as its lane of the gate file tells: launches become submissions, ends completions, frame records frames.
///
/// It numbers submissions for the arbiter, rendering among them; those of a process that died before they were launched
/// are used again. Rendering passes whatever the gate is, and is not told where launches wait there.
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
  /// The process behind the lane is gone: hears what it still told. What is in flight then counts as lost, what waits
  /// as never launched.
  void lose_process(Arbiter& arbiter, DeviceUse& use);
  /// The same for one that the policy has refused, of whose new launches the arbiter wants to hear nothing.
  void turn_away(Arbiter& arbiter, DeviceUse& use);
  bool has_lost_process() const;

  const std::string& name() const { return spec_.name; }
  /// Nothing that has not been heard of yet began before this, as long as it is not heard of very late.
  Time oldest_unfinished() const;
  std::uint64_t jobs_finished() const { return jobs_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t slipped() const { return slipped_; }
  bool has_been_gated() const { return has_been_gated_; }
  /// When a launch at a closed gate was heard of last; kNever before the first.
  Time last_question() const { return last_question_; }
  const std::vector<Duration>& heard_late() const { return heard_late_; }

 private:
  struct Op {
    std::uint64_t number = 0;  ///< for the arbiter
    Time submitted, launched = kNever;
    OpKind kind = OpKind::kKernel;
    std::uint32_t name = 0, stream = 0;
    bool is_complete = false;
    Duration expected = kUnknownDuration;  ///< by the profile
  };

  /// A frame that was handed over, whose rendering the arbiter knows as an operation, mostly.
  struct Frame {
    FrameFact fact;
    std::optional<std::uint64_t> operation;
  };

  bool hear_frames(Arbiter& arbiter, DeviceUse& use);
  bool is_abandoned(std::uint64_t frame_record);
  bool hear_launches(Arbiter& arbiter);
  bool hear_ends(Arbiter& arbiter, DeviceUse& use);
  const gate::Launch& ended(std::uint64_t end) const;
  Op* op_ended(std::uint64_t end);
  bool can_hear_group(std::uint64_t told);
  void hear_group(Arbiter& arbiter, DeviceUse& use);
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
  std::uint64_t ends_heard_ = 0;
  std::uint64_t frames_heard_ = 0;
  std::uint64_t unfilled_ = UINT64_MAX;  // a frame's record whose place has been taken
  Time unfilled_since_;
  std::uint64_t launched_ = 0;  // in the lane: below it, the arbiter has launched
  std::uint64_t passed_ = 0;    // in the lane: below it, launches passed an open gate, or one whose limit was higher
  std::uint64_t limit_ = 0;     // in the lane: below it, launches pass the closed gate
  bool is_open_ = false;
  bool must_wake_ = false;
  bool has_been_gated_ = false;
  Time last_question_ = kNever;
  std::deque<Frame> frames_;  // handed over; the first is being rendered
  std::uint32_t quality_level_;
  Time job_begin_ = kNever;
  std::uint64_t job_launches_ = 0;
  std::uint64_t jobs_ = 0, launches_ = 0, slipped_ = 0;
  std::vector<Duration> heard_late_;
};

}  // namespace corun::live

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/busy_time.h"
#include "sim/executor/wall_clock.h"
#include "sim/live/profile.h"
#include "sim/workload/client_spec.h"
#include "tracer/gate/gate_channel.h"

namespace corun::live {

/// One client as its lane of the gate file tells: launches become submissions, ends completions, frame records frames.
///
/// It numbers submissions for the arbiter; those of a process that died before they were launched are used again.
class LiveClient {
 public:
  LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, const executor::WallClock& clock,
             Recorder& recorder);

  /// Tells the arbiter everything that is new in the lane. True if there was something.
  bool hear(Arbiter& arbiter, executor::BusyTime& busy);
  /// The arbiter lets submission `number` pass.
  void launch(std::uint64_t number);
  /// Makes the gate in the client's process what the arbiter's is. Returns whether that has closed it just now: then
  /// there may be launches that slipped.
  bool follow(bool is_open);
  /// Wakes those whom launch() and follow() have let pass.
  void wake_the_admitted();
  /// The process behind the lane is gone: what it had in flight counts as lost, what waited as never launched.
  void lose_process(Arbiter& arbiter);
  bool has_lost_process() const;

  const std::string& name() const { return spec_.name; }
  Duration device_time() const { return device_time_; }
  std::uint64_t jobs_finished() const { return jobs_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t slipped() const { return slipped_; }
  bool has_been_gated() const { return has_been_gated_; }
  const std::vector<Duration>& heard_late() const { return heard_late_; }

 private:
  struct Op {
    std::uint64_t number = 0;  ///< for the arbiter
    Time submitted, launched = kNever;
    OpKind kind = OpKind::kKernel;
    std::uint32_t name = 0, stream = 0;
    bool is_complete = false;
  };

  bool hear_frames(Arbiter& arbiter);
  bool hear_launches(Arbiter& arbiter);
  bool hear_ends(Arbiter& arbiter, executor::BusyTime& busy);
  OpView view_of(const gate::Launch& launch) const;
  void complete(Op& op, Time begin, Time end, Duration device_time, bool is_lost, Arbiter& arbiter);
  void count_launch(Time end);
  void on_frame(const gate::FrameRecord& record, Arbiter& arbiter);
  void begin_frame(Time at, Arbiter& arbiter);
  void end_frame(const gate::FrameRecord& record, Arbiter& arbiter);
  void retire();
  std::string_view name_of(std::uint32_t number) const { return lane_.names[number]; }

  const ClientId id_;
  const ClientSpec& spec_;
  gate::Lane& lane_;
  const executor::WallClock& clock_;
  Recorder& recorder_;
  Profile profile_;
  const std::uint64_t launches_per_job_;

  std::deque<Op> ops_;             // heard and not retired; the first is the lane's `first_`
  std::uint64_t first_ = 0;        // number in the lane
  std::uint64_t next_ = 0;         // in the lane: the next to be heard
  std::uint64_t next_number_ = 0;  // for the arbiter
  std::uint64_t ends_heard_ = 0;
  std::uint64_t frames_heard_ = 0;
  std::uint64_t passed_ = 0;  // in the lane: below it, launches passed an open gate
  bool is_open_ = false;
  bool must_wake_ = false;
  bool has_been_gated_ = false;
  std::deque<FrameFact> frames_;  // handed over; the first is being rendered
  Time job_begin_ = kNever;
  std::uint64_t job_launches_ = 0;
  std::uint64_t jobs_ = 0, launches_ = 0, slipped_ = 0;
  Duration device_time_{};
  std::vector<Duration> heard_late_;
};

}  // namespace corun::live

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/facts/recorder.h"
#include "sim/live/client/device_use.h"
#include "sim/live/client/lane_reader.h"
#include "sim/workload/client_spec.h"

namespace corun::live {

/// Frames and jobs of a live client: reported to the arbiter, counted as device use, recorded as facts. One thread.
///
/// A frame's rendering passes the closed gate, too. The arbiter has it as an operation, mostly, and is to have no
/// rendering where launches wait at the gate.
class LiveJobs {
 public:
  /// All references outlive this.
  LiveJobs(ClientId id, const ClientSpec& spec, Arbiter& arbiter, DeviceUse& use, const executor::WallClock& clock,
           Recorder& recorder);

  /// Frames from now on are rendered at this level of the client's menu.
  void set_quality(std::uint32_t level) { quality_level_ = level; }
  /// The program begins to render a frame; `operation` is the arbiter's number for that.
  void begin_frame(std::uint64_t number, Time at, std::optional<std::uint64_t> operation);
  void present_frame(std::uint64_t number, Time at);
  /// It was rendered, and is a job. Frames before it whose end was never seen are dropped. What it cost is its part of
  /// the device from its begin there to its end: where contexts take turns, others had theirs meanwhile.
  void end_frame(const LaneReader::FrameMark& mark);
  /// The frame that is being rendered has work on the device, as far as it has come; its host works before it for as
  /// long as before the last one. `ended`: when it ended, if that is known; the next one begins then.
  void tell_use(Time now, std::optional<Time> ended);
  /// No frame in progress will end.
  void lose_frames();

  /// A launch has ended, or was lost. So many as a job of the workload has are one, unless frames are the jobs.
  /// Launches with other graphs among them than a job has are none: a program that starts tunes its kernels, say.
  void end_launch(Time submitted, Time end, bool is_graph, bool is_lost);

  /// The job that it is at will not end: the next launch begins another.
  void lose_job();

  /// Why the rate of jobs is not known; "" where it is. Launches are taken for jobs as a capture has them, so they must
  /// be alike: as many as one job has at least, with about as many graphs in most of such stretches.
  std::string why_rate_is_unknown() const;

  std::uint64_t launches_per_job() const;  ///< rounded; at least 1
  std::uint64_t finished() const { return finished_; }
  std::size_t frames_in_progress() const { return frames_.size(); }
  /// When the oldest frame in progress began on the device; kNever where there is none.
  Time oldest_unfinished() const;

 private:
  struct Frame {
    FrameFact fact;
    std::optional<std::uint64_t> operation;
  };

  void submit_render(const Frame& frame);
  void complete_render(Frame& frame, Duration device_time);
  void start_oldest(Time at);

  const ClientId id_;
  const ClientSpec& spec_;
  Arbiter& arbiter_;
  DeviceUse& use_;
  const executor::WallClock& clock_;
  Recorder& recorder_;
  struct Mix {
    std::uint64_t jobs = 1, launches = 1, graphs = 0;
  };
  static Mix mix_of(const Workload& workload);
  bool is_alike() const;

  const Mix captured_;
  std::deque<Frame> frames_;  // in progress; the first is being rendered
  std::uint32_t quality_level_;
  Duration host_ahead_{};  // of the last frame: from its begin until the device began with it
  Time job_begin_ = kNever;
  std::uint64_t launches_ = 0;    // that have ended
  std::uint64_t job_graphs_ = 0;  // of these, in the present job
  std::uint64_t all_graphs_ = 0;
  std::uint64_t unlike_ = 0;  // stretches with other graphs than a job has
  std::uint64_t finished_ = 0;
};

}  // namespace corun::live

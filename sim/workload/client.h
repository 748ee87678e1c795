#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sim/engine/random.h"
#include "sim/facts/recorder.h"
#include "sim/policy/view.h"
#include "sim/serving/server.h"
#include "sim/workload/client_spec.h"
#include "sim/workload/frame_rendering.h"
#include "sim/workload/job_progress.h"

namespace corun {

struct Submission;

/// What a replaying client needs of the world. Simulated and real backends implement it.
class ClientHost {
 public:
  virtual ~ClientHost() = default;
  virtual Time now() const = 0;
  /// Calls Client::resume at `when` (once; one wish at a time per client).
  virtual void resume_at(ClientId client, Time when) = 0;
  /// In place of resume_at() by a client that then returns: true if it is `when` now, and the client goes on at once.
  virtual bool goes_on_at(Time when) {
    static_cast<void>(when);
    return false;
  }
  /// Hands the client's newest submission to the arbiter. True if it passed the gate at once.
  virtual bool submit(ClientId client, const Submission& submission) = 0;
  /// Its server begins or has ended a step.
  virtual void tell_server(ClientId client, const ServerView& server) = 0;
  /// The client has nothing more to do and nothing in flight.
  virtual void finished(ClientId client) = 0;
};

/// A submission that has not left the client's ring: what backend and metrics need to know of it.
struct Submission {
  std::uint64_t number = 0;
  std::uint64_t job = 0;
  std::uint32_t index = 0;  ///< of its operation in the workload
  bool is_complete = false;
  const WorkOp* shared = nullptr;  ///< what its operation has in common with others: all but times and awaits
  Duration duration{};             ///< device time, quality level and jitter applied
  Time submitted, launched;
};

/// The state machine that replays a workload: one logical host thread that submits, waits and paces itself.
///
/// In closed replay a submission held at the gate blocks the host, as a launch call does, unless the gate buffers
/// launches; so does a full launch queue. In open replay nothing blocks it. The same object is driven by the simulated
/// and by the real backend. Which draws are made depends on the seed and the client's name alone.
class Client {
 public:
  /// What stands between its host and the device.
  struct Gate {
    std::uint32_t launch_queue_depth = 0;  ///< most operations that are submitted and not completed
    bool buffers_launches = false;         ///< Policy::buffers_launches
  };

  /// `spec` must outlive the client. Throws Error(kUnsupported) for combinations that make no sense.
  Client(ClientId id, const ClientSpec& spec, std::uint64_t seed, const Gate& gate, ClientHost& host,
         Recorder& recorder);

  /// Instant at which it joins: its arrival plus its random phase.
  Time arrival() const { return arrival_; }
  const ClientSpec& spec() const { return spec_; }
  std::uint32_t stream_count() const { return static_cast<std::uint32_t>(outstanding_by_stream_.size()); }
  bool is_finished() const { return state_ == State::kFinished; }
  std::uint64_t jobs_finished() const { return jobs_finished_; }  ///< of a server: requests answered

  /// Of a client with `reads_prompts_of`, before either starts: the other loop of its server.
  void share_server_of(Client& decoding);
  void start();   ///< it has joined
  void resume();  ///< the instant asked for with resume_at has come
  /// Submission `number` has passed the gate, at once or after waiting there. The host resumes `held` after now.
  void launched(std::uint64_t number, Duration held = {});
  /// Submission `number` has finished, with begin, end and device time as the backend measured them. A submission that
  /// was lost in a kill counts as finished: the program continues after it, as where a hook restores its memory. If the
  /// kill came before the host resumed, the submission counts as launched when it ended. Returns true if the submission
  /// ended its frame: all of the job's work is done and its host has submitted everything.
  bool completed(std::uint64_t number, const Completion& completion);
  /// A call of its host was answered with an error: it submits nothing more and is finished when nothing is in flight.
  void refused();
  void set_quality(std::uint32_t level) { frames_.set_quality(level); }
  /// Its next frame is rendered once more at that level.
  void shadow(std::uint32_t level) { frames_.shadow(level); }

  /// Its newest submission as a policy may see it.
  OpView view_of(const Submission& newest) const;
  const Submission& submission(std::uint64_t number) const { return ring_[number & (ring_.size() - 1)]; }

  /// First submission of the oldest unfinished frame whose begin has not been reported, or UINT64_MAX.
  std::uint64_t frame_awaiting_begin() const { return has_frames_ ? first_of_unbegun_frame() : UINT64_MAX; }
  void frame_begun(Time when);
  /// The frame for which completed() has just returned true.
  const FrameView& last_frame() const { return frames_.last(); }
  /// The shadow that was rendered along with it, if any. It is reported after the frame's end.
  const std::optional<ShadowFrame>& last_shadow() const { return frames_.last_shadow(); }
  std::uint32_t scene_of(std::uint64_t job) const {
    return spec_.workload->jobs[job % spec_.workload->jobs.size()].scene;
  }

 private:
  enum class State : std::uint8_t {
    kPacing,     ///< between jobs: waits for a tick, a release or for jobs before to finish
    kGap,        ///< its host works until resume()
    kGate,       ///< its host is held in a launch call
    kQueueFull,  ///< its host is held by a full launch queue
    kWaiting,    ///< its host waits for device work
    kReleased,   ///< its host has been let go at this instant and will resume
    kRefused,    ///< got an error and waits for what is in flight
    kFinished,
  };
  std::uint64_t first_of_unbegun_frame() const;
  JobProgress& progress_of(const Submission& submission);
  bool is_open() const { return spec_.replay == Replay::kOpen; }
  bool goes_on_at_gate() const { return is_open() || gate_.buffers_launches; }
  std::uint32_t queued_ahead() const;
  void advance_host();
  bool next_job_may_begin();
  Time next_release() const;
  void begin_job();
  bool run_steps();
  bool serve_gap(const JobProgress& current);
  bool wait_is_over(const HostStep& step) const;
  void submit_step(const HostStep& step);
  void next_step();
  void finish_jobs();
  void finish_if_refused();
  void report(const JobProgress& job);
  void report_step(const JobProgress& step);
  void report_requests(const std::vector<RequestTimes>& ended);
  void look_for_step();
  void wait_until(State state, Time when);
  Submission& slot(std::uint64_t number) { return ring_[number & (ring_.size() - 1)]; }
  Submission& push_submission(std::uint32_t index);

  const ClientId id_;
  const ClientSpec& spec_;
  const Gate gate_;
  const bool has_frames_;  ///< its jobs are frames
  ClientHost& host_;
  Recorder& recorder_;
  RandomStream gap_random_, duration_random_;
  Time arrival_;
  State state_ = State::kPacing;

  std::shared_ptr<Server> server_;  // once it has started
  Client* other_loop_ = nullptr;    // of the same server
  StepLoop loop_ = StepLoop::kAll;
  bool awaits_server_ = false;   ///< it has started, and the other loop has not
  std::uint64_t first_job_ = 0;  // index of the one with number 0
  std::uint64_t next_job_ = 0;
  std::uint64_t jobs_total_ = 0;  ///< UINT64_MAX = forever
  std::uint64_t jobs_finished_ = 0;
  std::deque<JobProgress> jobs_;  ///< begun and unfinished, oldest first; the last is the host's unless between jobs
  std::uint32_t step_ = 0;        ///< of the current job
  HostStep now_step_;             ///< that step, once its gap has begun
  bool gap_served_ = false;       ///< the current step's gap has passed
  bool is_submitting_ = false;    ///< inside ClientHost::submit
  Time joined_;                   ///< its releases count from then on
  Time last_job_start_ = kNever;
  Time release_ = kNever;  ///< of the next job, once it is known: a clock that is late must not miss it
  FrameRendering frames_;

  std::vector<Submission> ring_;  ///< by number; its size is a power of two
  std::uint64_t next_submission_ = 0;
  std::uint64_t oldest_submission_ = 0;
  std::uint32_t outstanding_ = 0;
  std::vector<std::uint32_t> outstanding_by_stream_;
};

}  // namespace corun

#include "sim/workload/client.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "sim/device/work.h"
#include "sim/workload/scaled.h"
#include "traces/base/error.h"

namespace corun {

namespace {

Duration predicted(Duration mean, double factor) { return mean == kUnknownDuration ? mean : scaled(mean, factor); }

Duration first_job_length(const ClientSpec& spec) {
  const Workload& workload = *spec.workload;
  if (spec.pacing.period > Duration{0}) return spec.pacing.period;
  const auto jobs = static_cast<std::int64_t>(workload.jobs.size());
  return std::max(workload.recorded_span / jobs, workload.device_time(workload.jobs.front()));
}

void refuse_long_operations(const ClientSpec& spec) {
  const WorkOps& ops = spec.workload->ops;
  const std::size_t op = ops.first_longer_than(kLongestOp);
  if (op == ops.size()) return;
  const Duration longest = std::max(ops.duration_of(op), ops.dispatch_gap_of(op));
  throw Error(ErrorKind::kUnsupported,
              fmt::format("client '{}': operation '{}' lasts {:.0f} s; a device takes at most {:.0f} s", spec.name,
                          spec.workload->names[ops[op].name], to_seconds(longest), to_seconds(kLongestOp)));
}

}  // namespace

Client::Client(ClientId id, const ClientSpec& spec, std::uint64_t seed, const Gate& gate, ClientHost& host,
               Recorder& recorder)
    : id_(id),
      spec_(spec),
      gate_(gate),
      has_frames_(spec.workload->job_kind == JobKind::kFrame),
      host_(host),
      recorder_(recorder),
      gap_random_(seed, spec.name + "/host_gap"),
      duration_random_(seed, spec.name + "/duration"),
      arrival_(kRunStart + spec.arrival),
      frames_(spec),
      ring_(8) {
  if (spec.replay == Replay::kOpen && spec.repeat != 1 && spec.workload->recorded_span <= Duration{0})
    throw Error(ErrorKind::kUnsupported,
                fmt::format("client '{}': open replay cannot repeat a capture that spans no time", spec.name));
  const bool paced = spec.pacing.mode == Pacing::Mode::kVsync || spec.pacing.mode == Pacing::Mode::kLimited;
  if (paced && spec.pacing.period <= Duration{0})
    throw Error(ErrorKind::kInput, fmt::format("client '{}': pacing needs a period above zero", spec.name));
  if (spec.workload->jobs.empty())
    throw Error(ErrorKind::kUnsupported, fmt::format("client '{}' has no jobs to replay", spec.name));
  refuse_long_operations(spec);
  jobs_total_ = spec.repeat == 0 ? UINT64_MAX : spec.repeat * spec.workload->jobs.size();
  if (spec.random_phase) {
    RandomStream phase(seed, spec.name + "/phase");
    arrival_ += scaled(first_job_length(spec), phase.uniform());
  }
  if (spec.random_first_job && spec.replay == Replay::kClosed) {
    RandomStream first(seed, spec.name + "/first_job");
    first_job_ = static_cast<std::uint64_t>(first.uniform() * static_cast<double>(spec.workload->jobs.size()));
  }
  std::uint32_t streams = 0;
  for (const WorkOp& op : spec.workload->ops.prototypes()) streams = std::max(streams, op.stream.value + 1);
  outstanding_by_stream_.resize(streams);
}

std::uint32_t Client::queued_ahead() const {
  if (spec_.server || spec_.reads_prompts_of || spec_.pacing.mode == Pacing::Mode::kSyncEachJob) return 0;
  if (spec_.pacing.queued_ahead != Pacing::kByMode) return spec_.pacing.queued_ahead;
  if (!has_frames_ || is_open()) return UINT32_MAX;
  return spec_.pacing.mode == Pacing::Mode::kUncapped ? 1 : 0;
}

void Client::start() {
  joined_ = host_.now();
  frames_.start(joined_);
  if (spec_.server) server_ = std::make_shared<Server>(*spec_.server, spec_.captured_steps(), joined_);
  if (spec_.reads_prompts_of) {
    if (other_loop_ == nullptr)
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("client '{}' reads prompts for a server that is not there: only simulated runs of one "
                              "device divide a server",
                              spec_.name));
    server_ = other_loop_->server_;
    awaits_server_ = server_ == nullptr;
    if (awaits_server_) return;
  }
  if (other_loop_ != nullptr && std::exchange(other_loop_->awaits_server_, false)) {
    other_loop_->server_ = server_;
    other_loop_->look_for_step();
  }
  advance_host();
}

void Client::share_server_of(Client& decoding) {
  other_loop_ = &decoding;
  decoding.other_loop_ = this;
  loop_ = StepLoop::kPrompts;
  decoding.loop_ = StepLoop::kDecodes;
}

void Client::wait_until(State state, Time when) {
  state_ = state;
  host_.resume_at(id_, when);
}

Time Client::next_release() const {
  const Workload& workload = *spec_.workload;
  if (is_open()) {
    const std::uint64_t pass = next_job_ / workload.jobs.size();
    const Duration offset =
        workload.jobs[next_job_ % workload.jobs.size()].recorded_start - workload.jobs.front().recorded_start;
    return joined_ + offset + static_cast<std::int64_t>(pass) * workload.recorded_span;
  }
  const bool first = last_job_start_ == kNever;
  switch (spec_.pacing.mode) {
    case Pacing::Mode::kVsync:
      if (first) return joined_;
      // A game that runs ahead of its GPU need not wait for a tick that it has missed: its frames queue for the
      // display.
      if (queued_ahead() > 0) return std::max(host_.now(), frames_.tick_at_or_after(last_job_start_ + Duration{1}));
      return frames_.tick_at_or_after(std::max(host_.now(), last_job_start_ + Duration{1}));
    case Pacing::Mode::kLimited:
      return first ? joined_ : last_job_start_ + spec_.pacing.period;
    default:
      return host_.now();
  }
}

void Client::advance_host() {
  while (true) {
    if (state_ == State::kPacing) {
      if (!next_job_may_begin()) return;
      begin_job();
    }
    if (!run_steps()) return;
    jobs_.back().host_done = true;
    state_ = State::kPacing;
    finish_jobs();
  }
}

bool Client::next_job_may_begin() {
  const bool has_stayed = spec_.stay > Duration{0} && host_.now() >= joined_ + spec_.stay;
  if (server_ && jobs_.empty()) release_ = server_->next_step(host_.now(), loop_);
  const bool has_served = server_ && jobs_.empty() && server_->has_served();
  if (next_job_ == jobs_total_ || has_stayed || has_served) {
    if (jobs_.empty()) {
      state_ = State::kFinished;
      host_.finished(id_);
    }
    return false;
  }
  if (jobs_.size() > queued_ahead()) return false;  // a completion comes back here
  if (server_ && release_ == kNever) return false;  // the other loop's step does
  if (release_ == kNever) release_ = next_release();
  if (release_ <= host_.now()) return true;
  wait_until(State::kPacing, release_);
  return false;
}

void Client::begin_job() {
  const Workload& workload = *spec_.workload;
  JobProgress progress;
  progress.number = next_job_;
  std::size_t job = (first_job_ + next_job_) % workload.jobs.size();
  if (server_) {
    const StepReplay step = server_->begin_step(loop_);
    job = step.job;
    progress.step_factor = step.factor;
    host_.tell_server(spec_.server ? id_ : other_loop_->id_, {server_->steps(), server_->oldest_unanswered()});
  }
  progress.job = &workload.jobs[job];
  progress.first_submission = next_submission_;
  progress.unfinished = progress.job->op_count;
  progress.start = host_.now();
  progress.arrival = is_open() ? next_release() : progress.start;
  if (spec_.host_jitter > 0) progress.gap_factor = gap_random_.lognormal(1.0, spec_.host_jitter);
  ++next_job_;
  last_job_start_ = host_.now();
  release_ = kNever;
  jobs_.push_back(progress);
  if (has_frames_) frames_.begin(jobs_.back());
  step_ = 0;
  gap_served_ = false;
  state_ = State::kReleased;
}

void Client::resume() {
  if (state_ == State::kFinished) return;
  if (state_ == State::kRefused) {
    if (outstanding_ > 0) return;
    state_ = State::kFinished;
    return host_.finished(id_);
  }
  if (state_ == State::kGap) gap_served_ = true;
  advance_host();
}

/// Goes on with the current job; true when its last step is done, false where the host has to wait.
bool Client::run_steps() {
  const JobProgress& current = jobs_.back();
  while (step_ < current.job->step_count) {
    if (!gap_served_ && !serve_gap(current)) return false;
    gap_served_ = true;
    const HostStep step = now_step_;
    if (step.kind != StepKind::kSubmit) {
      if (!is_open() && !wait_is_over(step)) {
        state_ = State::kWaiting;
        return false;
      }
      next_step();
      continue;
    }
    if (!is_open() && outstanding_ >= gate_.launch_queue_depth) {
      state_ = State::kQueueFull;
      return false;
    }
    submit_step(step);
    if (state_ == State::kGate) return false;
  }
  return true;
}

/// Looks up the step and its gap; false where the gap has to pass first.
bool Client::serve_gap(const JobProgress& current) {
  now_step_ = spec_.workload->steps[current.job->first_step + step_];
  const Duration gap = scaled(now_step_.gap, spec_.host_gap_scale * current.gap_factor);
  if (gap <= Duration{0}) return true;
  state_ = State::kGap;
  if (host_.goes_on_at(host_.now() + gap)) return true;
  wait_until(State::kGap, host_.now() + gap);
  return false;
}

void Client::next_step() {
  ++step_;
  gap_served_ = false;
}

bool Client::wait_is_over(const HostStep& step) const {
  switch (step.kind) {
    case StepKind::kWaitAll:
      return outstanding_ == 0;
    case StepKind::kWaitStream:
      return step.target >= outstanding_by_stream_.size() || outstanding_by_stream_[step.target] == 0;
    case StepKind::kWaitOp: {
      // Submissions of a pass are numbered as its operations are, those of earlier jobs included.
      const std::uint64_t number = jobs_.back().first_submission + step.target - jobs_.back().job->first_op;
      return number < oldest_submission_ || submission(number).is_complete;
    }
    case StepKind::kSubmit:
      break;
  }
  return true;
}

Submission& Client::push_submission(std::uint32_t index) {
  if (next_submission_ - oldest_submission_ == ring_.size()) {
    std::vector<Submission> larger(ring_.size() * 2);
    for (std::uint64_t n = oldest_submission_; n < next_submission_; ++n)
      larger[n & (larger.size() - 1)] = submission(n);
    ring_ = std::move(larger);
  }
  Submission& pushed = slot(next_submission_);
  const WorkOps& ops = spec_.workload->ops;
  const WorkOp& op = ops.shared_by(index);
  JobProgress& job = jobs_.back();
  const bool is_render = op.kind == OpKind::kRender;
  double factor = spec_.device_time_scale * job.step_factor;
  if (is_render) factor *= frames_.cost_of(job);
  if (spec_.duration_jitter > 0 && !op.continues)
    job.duration_factor = duration_random_.lognormal(1.0, spec_.duration_jitter);
  factor *= job.duration_factor;
  const Duration extra = is_render ? FrameRendering::take_extra_time(job, next_submission_) : Duration{0};
  pushed.number = next_submission_;
  pushed.job = job.number;
  pushed.index = index;
  pushed.shared = &op;
  pushed.duration = std::min(scaled(ops.duration_of(index), factor) + extra, kLongestOp);
  pushed.submitted = host_.now();
  pushed.launched = kNever;
  pushed.is_complete = false;
  ++next_submission_;
  ++outstanding_;
  ++outstanding_by_stream_[op.stream.value];
  return pushed;
}

OpView Client::view_of(const Submission& newest) const {
  const WorkOp& op = *newest.shared;
  OpView view;
  view.number = newest.number;
  view.name = spec_.workload->names[op.name];
  view.is_render = op.kind == OpKind::kRender;
  view.is_copy = is_copy(op.kind);
  view.is_to_device = op.kind == OpKind::kCopyHostToDevice;
  view.is_from_device = op.kind == OpKind::kCopyDeviceToHost;
  view.position = static_cast<std::uint32_t>(newest.number - jobs_.back().first_submission);
  view.blocks = op.shape.blocks();
  view.bytes = op.bytes;
  const double factor = jobs_.back().step_factor;
  view.predicted_by_name = predicted(op.predicted_by_name, factor);
  view.predicted_by_shape = predicted(op.predicted_by_shape, factor);
  view.submitted = newest.submitted;
  return view;
}

void Client::submit_step(const HostStep& step) {
  const Submission& pushed = push_submission(step.target);
  if (jobs_.back().submit == kNever) jobs_.back().submit = pushed.submitted;
  if (!goes_on_at_gate()) state_ = State::kGate;
  is_submitting_ = true;
  const bool passed = host_.submit(id_, pushed);
  is_submitting_ = false;
  if (passed || goes_on_at_gate()) {
    state_ = State::kReleased;
    next_step();
  }
}

void Client::launched(std::uint64_t number, Duration held) {
  Submission& submission = slot(number);
  submission.launched = host_.now() + held;
  if (state_ != State::kGate || is_submitting_) return;
  next_step();
  wait_until(State::kReleased, host_.now() + held);
}

void Client::refused() {
  if (state_ == State::kFinished) return;
  // What was submitted and not launched has been dropped at the gate.
  while (next_submission_ > oldest_submission_ && submission(next_submission_ - 1).launched == kNever) {
    --next_submission_;
    --outstanding_;
    --outstanding_by_stream_[submission(next_submission_).shared->stream.value];
  }
  state_ = State::kRefused;
  finish_if_refused();
}

void Client::finish_if_refused() {
  if (state_ == State::kRefused && outstanding_ == 0) host_.resume_at(id_, host_.now());
}

bool Client::completed(std::uint64_t number, const Completion& completion) {
  const auto [begin, end, device_time] = std::tuple(completion.begin, completion.end, completion.device_time);
  Submission& submission = slot(number);
  submission.is_complete = true;
  --outstanding_;
  const Time launched = completion.is_lost ? std::min(submission.launched, begin) : submission.launched;
  const WorkOp& op = *submission.shared;
  --outstanding_by_stream_[op.stream.value];
  JobProgress& job = progress_of(submission);
  --job.unfinished;
  job.gpu_begin = std::min(job.gpu_begin, begin);
  job.gpu_end = std::max(job.gpu_end, end);
  job.gpu_busy += device_time;
  recorder_.on_op(OpFact{id_, number, submission.job, op.stream, op.kind, spec_.workload->names[op.name],
                         submission.submitted, launched, begin, end, device_time, completion.is_lost});
  while (oldest_submission_ < next_submission_ && this->submission(oldest_submission_).is_complete)
    ++oldest_submission_;
  const bool ends_frame = has_frames_ && job.unfinished == 0;
  if (ends_frame) frames_.end(job);
  const bool host_is_between_jobs = state_ == State::kPacing;
  const std::size_t unfinished_before = jobs_.size();
  finish_jobs();
  if (state_ == State::kWaiting || state_ == State::kQueueFull) {
    if (state_ == State::kQueueFull || wait_is_over(now_step_)) host_.resume_at(id_, host_.now());
  } else if (host_is_between_jobs && jobs_.size() < unfinished_before) {
    host_.resume_at(id_, host_.now());
  }
  finish_if_refused();
  return ends_frame;
}

JobProgress& Client::progress_of(const Submission& submission) {
  const std::uint64_t place = jobs_.empty() ? 0 : submission.job - jobs_.front().number;
  CORUN_ASSERT(place < jobs_.size(), "client '{}' completes operation {} of job {}", spec_.name, submission.number,
               submission.job);
  return jobs_[place];
}

void Client::finish_jobs() {
  while (!jobs_.empty() && jobs_.front().unfinished == 0 && jobs_.front().host_done) {
    if (server_) {
      report_step(jobs_.front());
    } else {
      report(jobs_.front());
      ++jobs_finished_;
    }
    jobs_.pop_front();
  }
}

void Client::report(const JobProgress& job) {
  const Time end = std::max(job.gpu_end, job.start);
  recorder_.on_job(JobFact{id_, job.number, job.arrival, job.start, end});
  if (!has_frames_) return;
  FrameFact frame = frames_.show(job, queued_ahead() > 0);
  frame.client = id_;
  recorder_.on_frame(frame);
}

/// Steps that read prompts next to decodes are jobs of their client, and those of the other one tell how the server is.
void Client::report_step(const JobProgress& step) {
  const Time now = host_.now();
  const BatchFormer& batch = server_->batch();
  ServerStepFact fact{id_, step.start, now, server_->step(loop_)};
  fact.sequences = static_cast<std::uint32_t>(batch.sequences());
  fact.waiting = static_cast<std::uint32_t>(batch.waiting());
  fact.kv_tokens = batch.kv_tokens();
  const std::vector<RequestTimes> ended = server_->end_step(now, loop_);
  Client& owner = spec_.server ? *this : *other_loop_;
  host_.tell_server(owner.id_, {server_->steps(), server_->oldest_unanswered()});
  fact.rejected = server_->rejected();
  if (spec_.server) recorder_.on_server_step(fact);
  owner.report_requests(ended);
  if (!spec_.server) recorder_.on_job(JobFact{id_, jobs_finished_++, step.start, step.start, now});
  if (other_loop_ != nullptr) other_loop_->look_for_step();
}

void Client::report_requests(const std::vector<RequestTimes>& ended) {
  for (const RequestTimes& times : ended) {
    const ServedRequest& request = spec_.server->requests[times.request];
    recorder_.on_request(
        RequestFact{id_, times.request, times.arrival, times.first_token, times.end, request.prompt, request.output});
    recorder_.on_job(JobFact{id_, jobs_finished_++, times.arrival, times.arrival, times.end});
  }
}

void Client::look_for_step() {
  if (server_ && state_ == State::kPacing && jobs_.empty()) host_.resume_at(id_, host_.now());
}

std::uint64_t Client::first_of_unbegun_frame() const {
  for (const JobProgress& job : jobs_)
    if (!job.begun) return next_submission_ > job.first_submission ? job.first_submission : UINT64_MAX;
  return UINT64_MAX;
}

void Client::frame_begun(Time when) {
  for (JobProgress& job : jobs_) {
    if (job.begun) continue;
    job.begun = true;
    job.gpu_begin = when;
    return;
  }
}

}  // namespace corun

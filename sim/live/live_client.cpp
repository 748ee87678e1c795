#include "sim/live/live_client.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "tracer/gate/futex.h"

namespace corun::live {

namespace {

constexpr std::size_t kMostLateness = 1 << 20;

bool is_copy(gate::LaunchKind kind) {
  return kind == gate::LaunchKind::kCopyToDevice || kind == gate::LaunchKind::kCopyFromDevice ||
         kind == gate::LaunchKind::kCopy;
}

OpKind op_kind(gate::LaunchKind kind) {
  switch (kind) {
    case gate::LaunchKind::kCopyToDevice:
      return OpKind::kCopyHostToDevice;
    case gate::LaunchKind::kCopyFromDevice:
      return OpKind::kCopyDeviceToHost;
    case gate::LaunchKind::kCopy:
      return OpKind::kCopyDeviceToDevice;
    case gate::LaunchKind::kMemset:
      return OpKind::kMemset;
    default:
      return OpKind::kKernel;
  }
}

std::uint64_t mean_launches(const Workload& workload) {
  return workload.jobs.empty() ? 1 : std::max<std::uint64_t>(workload.ops.size() / workload.jobs.size(), 1);
}

}  // namespace

LiveClient::LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, const executor::WallClock& clock,
                       Recorder& recorder)
    : id_(id),
      spec_(spec),
      lane_(lane),
      clock_(clock),
      recorder_(recorder),
      profile_(*spec.workload),
      launches_per_job_(mean_launches(*spec.workload)) {}

bool LiveClient::hear(Arbiter& arbiter, executor::BusyTime& busy) {
  has_been_gated_ = has_been_gated_ || lane_.process.load() != 0;
  const bool has_frames = hear_frames(arbiter);
  const bool has_launches = hear_launches(arbiter);
  return hear_ends(arbiter, busy) || has_launches || has_frames;
}

OpView LiveClient::view_of(const gate::Launch& launch) const {
  OpView op;
  op.number = next_number_;
  op.name = name_of(launch.name);
  op.is_copy = is_copy(launch.kind);
  op.is_to_device = launch.kind == gate::LaunchKind::kCopyToDevice;
  op.is_from_device = launch.kind == gate::LaunchKind::kCopyFromDevice;
  op.blocks = launch.blocks;
  op.bytes = launch.bytes;
  op.predicted_by_name = op.predicted_by_shape = profile_.predict(op.name);
  op.position = static_cast<std::uint32_t>(next_number_ % launches_per_job_);
  op.submitted = clock_.at(launch.submitted_ns);
  return op;
}

bool LiveClient::hear_launches(Arbiter& arbiter) {
  const std::uint64_t before = next_;
  for (;; ++next_) {
    const gate::Launch& launch = lane_.launches[next_ % gate::kDepth];
    if (launch.ready.load(std::memory_order_acquire) != next_ + 1) break;
    const OpView op = view_of(launch);
    ops_.push_back({next_number_++, op.submitted, kNever, op_kind(launch.kind), launch.name, launch.stream, false});
    ++launches_;
    const bool has_passed = next_ < passed_ || is_open_;
    if (has_passed && heard_late_.size() < kMostLateness) heard_late_.push_back(clock_.now() - op.submitted);
    if (has_passed && !arbiter.gate_is_open(id_)) {
      ++slipped_;
      arbiter.slipped(id_, op);
    } else {
      arbiter.submit(id_, op);
    }
  }
  return next_ != before;
}

void LiveClient::launch(std::uint64_t number) {
  Op& op = ops_[number - ops_.front().number];
  op.launched = std::max(clock_.now(), op.submitted);
  const std::uint64_t in_lane = first_ + (number - ops_.front().number);
  if (is_open_ || in_lane < passed_) {
    op.launched = op.submitted;
    return;
  }
  lane_.admitted.store(in_lane + 1, std::memory_order_release);
  must_wake_ = true;
}

bool LiveClient::follow(bool is_open) {
  if (is_open == is_open_) return false;
  is_open_ = is_open;
  if (!is_open) {
    passed_ = lane_.gate.fetch_or(gate::Lane::kClosed) & ~gate::Lane::kClosed;
    return true;
  }
  passed_ = lane_.gate.fetch_and(~gate::Lane::kClosed) & ~gate::Lane::kClosed;
  lane_.admitted.store(passed_, std::memory_order_release);
  must_wake_ = true;
  return false;
}

void LiveClient::wake_the_admitted() {
  if (must_wake_) gate::announce(lane_.turn);
  must_wake_ = false;
}

/// In the order of their ends. One may be told here before its launch has been heard: then it is for the next time.
bool LiveClient::hear_ends(Arbiter& arbiter, executor::BusyTime& busy) {
  const std::uint64_t before = ends_heard_;
  const std::uint64_t told = lane_.done_count.load(std::memory_order_acquire);
  for (; ends_heard_ < told; ++ends_heard_) {
    const std::uint64_t in_lane = lane_.done[ends_heard_ % gate::kDepth];
    if (in_lane >= next_) break;
    if (in_lane < first_) continue;
    Op& op = ops_[in_lane - first_];
    if (op.is_complete || op.launched == kNever) continue;
    const gate::Launch& launch = lane_.launches[in_lane % gate::kDepth];
    const Time begin = std::max(clock_.at(launch.begin_ns), op.launched),
               end = std::max(clock_.at(launch.end_ns), begin);
    busy.add(begin, end);
    complete(op, begin, end, Duration{launch.device_ns}, false, arbiter);
  }
  if (ends_heard_ != before) retire();
  return ends_heard_ != before;
}

void LiveClient::complete(Op& op, Time begin, Time end, Duration device_time, bool is_lost, Arbiter& arbiter) {
  op.is_complete = true;
  device_time_ += device_time;
  OpFact fact;
  fact.client = id_;
  fact.number = op.number;
  fact.job = jobs_;
  fact.stream = StreamId{op.stream};
  fact.kind = op.kind;
  fact.name = name_of(op.name);
  fact.submitted = op.submitted;
  fact.launched = op.launched;
  fact.begin = begin;
  fact.end = end;
  fact.device_time = device_time;
  fact.is_lost = is_lost;
  recorder_.on_op(fact);
  if (job_begin_ == kNever) job_begin_ = op.submitted;
  if (!is_lost && spec_.workload->job_kind != JobKind::kFrame) count_launch(end);
  arbiter.complete(id_, op.number, device_time);
}

void LiveClient::count_launch(Time end) {
  if (++job_launches_ < launches_per_job_) return;
  recorder_.on_job(JobFact{id_, jobs_++, job_begin_, job_begin_, end});
  job_launches_ = 0;
  job_begin_ = kNever;
}

void LiveClient::retire() {
  const std::uint64_t before = first_;
  for (; !ops_.empty() && ops_.front().is_complete; ops_.pop_front()) ++first_;
  if (first_ == before) return;
  lane_.retired.store(first_, std::memory_order_release);
  const std::uint64_t taken = lane_.gate.load() & ~gate::Lane::kClosed;
  must_wake_ = must_wake_ || taken - before >= gate::kDepth;
}

bool LiveClient::has_lost_process() const {
  const auto process = static_cast<pid_t>(lane_.process.load());
  return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

void LiveClient::lose_process(Arbiter& arbiter) {
  arbiter.abandon(id_);
  std::uint64_t waiting = 0;
  for (Op& op : ops_) {
    if (op.launched == kNever) ++waiting;
    if (op.is_complete || op.launched == kNever) continue;
    const Time now = std::max(clock_.now(), op.launched);
    complete(op, now, now, Duration{0}, true, arbiter);
  }
  next_number_ -= waiting;
  ops_.clear();
  first_ = next_ = lane_.gate.load() & ~gate::Lane::kClosed;
  ends_heard_ = lane_.done_count.load(std::memory_order_acquire);
  lane_.retired.store(first_, std::memory_order_release);
  lane_.process.store(0);
}

bool LiveClient::hear_frames(Arbiter& arbiter) {
  const std::uint64_t before = frames_heard_;
  for (;; ++frames_heard_) {
    const gate::FrameRecord& record = lane_.frames[frames_heard_ % gate::kFrameDepth];
    if (record.ready.load(std::memory_order_acquire) != frames_heard_ + 1) break;
    on_frame(record, arbiter);
    lane_.frames_read.store(frames_heard_ + 1, std::memory_order_release);
  }
  return frames_heard_ != before;
}

void LiveClient::on_frame(const gate::FrameRecord& record, Arbiter& arbiter) {
  const Time at = clock_.at(record.at_ns);
  if (record.moment == gate::FrameMoment::kBegin) {
    frames_.push_back(FrameFact{});
    FrameFact& frame = frames_.back();
    frame.client = id_;
    frame.number = record.number;
    frame.start = frame.submit = frame.gpu_begin = at;
    if (frames_.size() == 1) begin_frame(at, arbiter);
    return;
  }
  const auto frame = std::ranges::find(frames_, record.number, &FrameFact::number);
  if (frame == frames_.end()) return;
  if (record.moment == gate::FrameMoment::kPresent) {
    frame->present = at;
    return;
  }
  frames_.erase(frames_.begin(), frame);  // of those before it, no end was told
  end_frame(record, arbiter);
}

/// A program may hand over frames before the one before has been rendered: they begin when that one ends.
void LiveClient::begin_frame(Time at, Arbiter& arbiter) {
  frames_.front().gpu_begin = std::max(frames_.front().gpu_begin, at);
  arbiter.frame(id_, FrameEvent::kBegin, FrameView{.number = frames_.front().number});
}

void LiveClient::end_frame(const gate::FrameRecord& record, Arbiter& arbiter) {
  FrameFact fact = frames_.front();
  frames_.pop_front();
  fact.gpu_end = std::max(clock_.at(record.gpu_end_ns != 0 ? record.gpu_end_ns : record.at_ns), fact.gpu_begin);
  fact.gpu_busy = record.gpu_busy_ns != 0 ? Duration{record.gpu_busy_ns} : fact.gpu_end - fact.gpu_begin;
  fact.present = std::max(fact.present, fact.gpu_end);
  fact.missed = spec_.pacing.period > Duration{0} && fact.present > fact.start + spec_.pacing.period;
  device_time_ += fact.gpu_busy;
  recorder_.on_frame(fact);
  recorder_.on_job(JobFact{id_, jobs_++, fact.start, fact.start, fact.gpu_end});
  arbiter.frame(id_, FrameEvent::kEnd, FrameView{.number = fact.number, .gpu_busy = fact.gpu_busy});
  if (!frames_.empty()) begin_frame(fact.gpu_end, arbiter);
}

}  // namespace corun::live

#include "sim/live/live_client.h"

#include <algorithm>

#include "sim/live/group_times.h"
#include "tracer/gate/channel/futex.h"
#include "tracer/gate/channel/word.h"
#include "tracer/gate/channel/process.h"
#include "traces/readable_name.h"

namespace corun::live {

namespace {

constexpr std::size_t kMostLateness = 1 << 20;
constexpr Duration kLatestHeard = std::chrono::milliseconds{100};
constexpr Duration kMostFilling = std::chrono::milliseconds{100};  // of a place, which takes nanoseconds

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

bool Unfilled::is_abandoned(std::uint64_t place, Time now) {
  if (place_ != place) {
    place_ = place;
    since_ = now;
  }
  return now - since_ > kMostFilling;
}

LiveClient::LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, const executor::WallClock& clock,
                       Recorder& recorder)
    : id_(id),
      spec_(spec),
      lane_(lane),
      clock_(clock),
      recorder_(recorder),
      profile_(*spec.workload),
      launches_per_job_(mean_launches(*spec.workload)),
      quality_level_(spec.quality_level) {}

bool LiveClient::hear(Arbiter& arbiter, DeviceUse& use) {
  const bool has_frames = hear_frames(arbiter, use);
  const bool has_launches = hear_launches(arbiter);
  return hear_ends(arbiter, use) || has_launches || has_frames;
}

/// Captures hold names as people write them. One before it may not have been written yet.
std::string_view LiveClient::name_of(std::uint32_t number) {
  if (names_.size() <= number) names_.resize(number + 1);
  if (names_[number].empty()) names_[number] = readable_name(lane_.name(number));
  return names_[number];
}

OpView LiveClient::view_of(const gate::Launch& launch) {
  OpView op;
  op.number = next_number_;
  op.name = name_of(launch.name);
  op.is_copy = is_copy(launch.kind);
  op.is_to_device = launch.kind == gate::LaunchKind::kCopyToDevice;
  op.is_from_device = launch.kind == gate::LaunchKind::kCopyFromDevice;
  op.blocks = launch.blocks;
  op.bytes = launch.bytes;
  op.predicted_by_name = profile_.by_name(op_kind(launch.kind), op.name);
  op.predicted_by_shape = profile_.by_shape(op_kind(launch.kind), op.name, op.blocks);
  op.position = static_cast<std::uint32_t>(next_number_ % launches_per_job_);
  op.submitted = clock_.at(launch.submitted_ns);
  return op;
}

bool LiveClient::hear_launches(Arbiter& arbiter) {
  const std::uint64_t before = next_;
  for (;; ++next_) {
    const gate::Launch& launch = lane_.launches[next_ % gate::kDepth];
    const bool is_ready = launch.ready.load(std::memory_order_acquire) == next_ + 1;
    if (!is_ready) {
      const bool can_be = next_ < gate::launches_of(lane_.gate.load()) && next_ - first_ < gate::kDepth;
      if (!can_be || !unfilled_launch_.is_abandoned(next_, clock_.now())) break;
    }
    if (is_ready && is_of_present(launch.slot)) {
      hear_launch(launch, arbiter);
    } else {
      leave_out();
    }
  }
  pass_by_void();
  return next_ != before;
}

void LiveClient::hear_launch(const gate::Launch& launch, Arbiter& arbiter) {
  const OpView op = view_of(launch);
  ops_.push_back({next_number_++, op.submitted, kNever, op_kind(launch.kind), launch.name, launch.stream, launch.slot,
                  false, false, op.predicted_by_shape});
  ++launches_;
  graphs_ += launch.kind == gate::LaunchKind::kGraph ? 1 : 0;
  first_work_ = std::min(first_work_, op.submitted);
  if (!has_passed(next_)) last_question_ = clock_.now();
  if (has_passed(next_) && heard_late_.size() < kMostLateness) heard_late_.push_back(clock_.now() - op.submitted);
  arbiter.submit(id_, op);
}

bool LiveClient::is_of_present(std::uint32_t slot_mark) const {
  const std::uint32_t slot = slot_mark % gate::kMostProcesses;
  return gate::mark_of_slot(slot, lane_.slots[slot].turn.load()) == slot_mark;
}

/// Its process has died, or the launch was never made.
void LiveClient::leave_out() {
  Op& op = ops_.emplace_back();
  op.number = next_number_;
  op.is_complete = op.is_void = true;
}

/// Should somebody wait there after all, it is let pass.
void LiveClient::pass_by_void() {
  while (launched_ - first_ < ops_.size() && ops_[launched_ - first_].is_void) ++launched_;
}

void LiveClient::launch(std::uint64_t number) {
  auto found = std::ranges::lower_bound(ops_, number, {}, &Op::number);
  while (found != ops_.end() && found->is_void) ++found;
  if (found == ops_.end() || found->number != number) return;  // rendering
  Op& op = *found;
  op.launched = std::max(clock_.now(), op.submitted);
  const std::uint64_t in_lane = first_ + static_cast<std::uint64_t>(found - ops_.begin());
  op.launched = has_passed(in_lane) ? op.submitted : std::max(clock_.now(), op.submitted);
  launched_ = in_lane + 1;
  pass_by_void();
}

void LiveClient::follow(Arbiter& arbiter) {
  tell_what_slipped(arbiter);
  if (arbiter.gate_is_open(id_)) return open_gate();
  close_gate(launched_ + std::min<std::uint64_t>(arbiter.admits_ahead(id_), gate::kFurthest / 2));
}

/// What passed before we could close the gate, or on a promise that the policy has not kept.
void LiveClient::tell_what_slipped(Arbiter& arbiter) {
  std::uint32_t count = 0;
  for (std::uint64_t in_lane = launched_; in_lane < next_ && has_passed(in_lane); ++in_lane)
    count += ops_[in_lane - first_].is_void ? 0 : 1;
  if (count == 0) return;
  slipped_ += count;
  arbiter.slipped(id_, count);
}

void LiveClient::open_gate() {
  if (is_open_) return;
  is_open_ = true;
  lane_.gate.fetch_and(~gate::kClosed);
  must_wake_ = true;
}

void LiveClient::close_gate(std::uint64_t limit) {
  if (!is_open_ && limit == limit_) return;
  std::uint64_t word = lane_.gate.load();
  while (!lane_.gate.compare_exchange_weak(word, gate::closed_word(gate::launches_of(word), limit))) {
  }
  const std::uint64_t taken = gate::launches_of(word);
  passed_ = std::max(passed_, is_open_ ? taken : std::min(taken, limit_));
  must_wake_ = must_wake_ || (limit > limit_ && taken > limit_);
  is_open_ = false;
  limit_ = limit;
}

void LiveClient::wake_the_admitted() {
  if (must_wake_) gate::announce(lane_.turn, lane_.sleepers);
  must_wake_ = false;
}

bool LiveClient::hear_ends(Arbiter& arbiter, DeviceUse& use) {
  bool has_news = false;
  const std::uint32_t used = std::min(lane_.slots_used.load(), gate::kMostProcesses);
  for (std::uint32_t slot = 0; slot < used; ++slot) has_news |= hear_ends_of(slot, arbiter, use);
  retire();
  return has_news;
}

/// In the order of their ends.
bool LiveClient::hear_ends_of(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use) {
  const std::uint64_t before = ends_heard_[slot];
  const std::uint64_t told = lane_.slots[slot].done_count.load(std::memory_order_acquire);
  while (ends_heard_[slot] < told && can_hear_group(slot, told)) hear_group(slot, arbiter, use);
  return ends_heard_[slot] != before;
}

std::uint64_t LiveClient::number_ended(std::uint32_t slot, std::uint64_t end) const {
  return lane_.slots[slot].done[end % gate::kDepth];
}

const gate::Launch& LiveClient::ended(std::uint32_t slot, std::uint64_t end) const {
  return lane_.launches[number_ended(slot, end) % gate::kDepth];
}

/// Null for one of a process that is gone.
LiveClient::Op* LiveClient::op_ended(std::uint32_t slot, std::uint64_t end) {
  const std::uint64_t in_lane = number_ended(slot, end);
  return in_lane < first_ ? nullptr : &ops_[in_lane - first_];
}

/// One may be told here before its launch has been heard, or before the arbiter has let it pass: then it is for the next
/// time, and with it those whose time is known together with its own.
bool LiveClient::can_hear_group(std::uint32_t slot, std::uint64_t told) {
  const std::uint64_t behind = ends_heard_[slot] + std::max(ended(slot, ends_heard_[slot]).group, 1U);
  if (behind > told) return false;
  for (std::uint64_t i = ends_heard_[slot]; i < behind; ++i) {
    if (number_ended(slot, i) >= next_) return false;
    const Op* op = op_ended(slot, i);
    if (op != nullptr && !op->is_void && op->launched == kNever) return false;
  }
  return true;
}

void LiveClient::hear_group(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use) {
  const std::uint64_t behind = ends_heard_[slot] + std::max(ended(slot, ends_heard_[slot]).group, 1U);
  std::vector<Duration> expected;
  Duration took{};
  for (std::uint64_t i = ends_heard_[slot]; i < behind; ++i) {
    const Op* op = op_ended(slot, i);
    expected.push_back(op != nullptr ? op->expected : kUnknownDuration);
    took += Duration{ended(slot, i).device_ns};
  }
  Time from = clock_.at(ended(slot, behind - 1).end_ns) - took;
  for (const Duration time : group_times(took, expected)) {
    Op* op = op_ended(slot, ends_heard_[slot]++);
    if (op != nullptr && !op->is_complete) {
      const Time begin = std::max(from, op->launched), end = std::max(from + time, begin);
      use.add(id_, begin, end);
      complete(*op, begin, end, time, false, arbiter);
    }
    from += time;
  }
}

void LiveClient::complete(Op& op, Time begin, Time end, Duration device_time, bool is_lost, Arbiter& arbiter) {
  op.is_complete = true;
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
  lane_.retired.store(first_);  // before we look at who may be waiting for it
  const std::uint64_t taken = gate::launches_of(lane_.gate.load());
  must_wake_ = must_wake_ || taken - before >= gate::kDepth;
}

Time LiveClient::oldest_unfinished() const {
  Time oldest = clock_.now() - kLatestHeard;
  for (const Op& op : ops_)
    if (!op.is_complete) oldest = std::min(oldest, op.submitted);
  if (!frames_.empty()) oldest = std::min(oldest, frames_.front().fact.gpu_begin);
  return oldest;
}

bool LiveClient::lose_the_dead(Arbiter& arbiter, DeviceUse& use) {
  bool has_lost = false;
  const std::uint32_t used = std::min(lane_.slots_used.load(), gate::kMostProcesses);
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    const std::uint32_t process = lane_.slots[slot].process.load();
    if (process == gate::kNoProcess || !gate::has_died(process)) continue;
    lose_process(slot, arbiter, use);
    has_lost = true;
  }
  std::uint32_t teller = lane_.frame_process.load();
  if (teller == gate::kNoProcess || !gate::has_died(teller)) return has_lost;
  hear_frames(arbiter, use);
  lose_frames(arbiter);
  lane_.frame_process.compare_exchange_strong(teller, gate::kNoProcess);
  return true;
}

void LiveClient::lose_process(std::uint32_t slot, Arbiter& arbiter, DeviceUse& use) {
  hear(arbiter, use);
  tell_what_slipped(arbiter);
  hear_ends(arbiter, use);
  gate::Slot& its = lane_.slots[slot];
  its.in_flight.store(0);
  its.turn.fetch_add(1);
  ends_heard_[slot] = its.done_count.load(std::memory_order_acquire);
  for (Op& op : ops_)
    if (!op.is_complete && op.launched != kNever && !is_of_present(op.slot)) lose(op, arbiter);
  submit_anew(arbiter);
  pass_by_void();
  retire();
  its.process.store(gate::kNoProcess);
}

/// What waits of processes that are there.
void LiveClient::submit_anew(Arbiter& arbiter) {
  const auto waits = [](const Op& op) { return op.launched == kNever && !op.is_void; };
  const auto is_dead = [&](const Op& op) { return waits(op) && !is_of_present(op.slot); };
  if (std::ranges::none_of(ops_, is_dead)) return;
  arbiter.abandon(id_);
  next_number_ -= static_cast<std::uint64_t>(std::ranges::count_if(ops_, waits));
  for (std::uint64_t in_lane = launched_, behind = next_; in_lane < behind; ++in_lane) {
    Op& op = ops_[in_lane - first_];
    if (is_dead(op)) op.is_complete = op.is_void = true;
    op.number = next_number_;
    if (op.is_void) continue;
    const OpView view = view_of(lane_.launches[in_lane % gate::kDepth]);
    ++next_number_;
    arbiter.submit(id_, view);
  }
}

void LiveClient::lose_all(Arbiter& arbiter, DeviceUse& use) {
  hear(arbiter, use);
  tell_what_slipped(arbiter);
  turn_away(arbiter, use);
}

void LiveClient::turn_away(Arbiter& arbiter, DeviceUse& use) {
  hear_ends(arbiter, use);
  give_up(arbiter);
}

void LiveClient::lose(Op& op, Arbiter& arbiter) {
  const Time now = std::max(clock_.now(), op.launched);
  complete(op, now, now, Duration{0}, true, arbiter);
}

void LiveClient::lose_frames(Arbiter& arbiter) {
  if (frames_.empty()) return;
  for (Frame& frame : frames_) complete_render(frame, Duration{0}, arbiter);
  const FrameFact begun = frames_.front().fact;
  frames_.clear();
  const Duration busy = std::max(clock_.now() - begun.gpu_begin, Duration{0});
  arbiter.frame(id_, FrameEvent::kEnd,
                FrameView{.number = begun.number, .gpu_busy = busy, .quality_level = begun.quality_level});
}

void LiveClient::give_up(Arbiter& arbiter) {
  lose_frames(arbiter);
  arbiter.abandon(id_);
  for (Op& op : ops_)
    if (!op.is_complete && op.launched != kNever) lose(op, arbiter);
  ops_.clear();
  first_ = next_ = launched_ = gate::launches_of(lane_.gate.load());
  if (!is_open_) close_gate(first_);
  lane_.retired.store(first_, std::memory_order_release);
}

bool LiveClient::hear_frames(Arbiter& arbiter, DeviceUse& use) {
  const std::uint64_t before = frames_heard_;
  for (;; ++frames_heard_) {
    const gate::FrameRecord& record = lane_.frames[frames_heard_ % gate::kFrameDepth];
    const bool is_ready = record.ready.load(std::memory_order_acquire) == frames_heard_ + 1;
    const bool is_taken = frames_heard_ < lane_.frame_count.load();
    if (!is_ready && !(is_taken && unfilled_frame_.is_abandoned(frames_heard_, clock_.now()))) break;
    is_ready ? on_frame(record, arbiter, use) : void(lane_.frames_lost.fetch_add(1));
    lane_.frames_read.store(frames_heard_ + 1, std::memory_order_release);
  }
  return frames_heard_ != before;
}

void LiveClient::on_frame(const gate::FrameRecord& record, Arbiter& arbiter, DeviceUse& use) {
  const Time at = clock_.at(record.at_ns);
  if (record.moment == gate::FrameMoment::kBegin) {
    first_work_ = std::min(first_work_, at);
    FrameFact& frame = frames_.emplace_back().fact;
    frame.client = id_;
    frame.number = record.number;
    frame.start = frame.submit = frame.gpu_begin = at;
    frame.quality_level = quality_level_;
    if (!spec_.quality_menu.empty()) frame.quality = spec_.quality_menu[quality_level_].quality;
    submit_render(frames_.back(), at, arbiter);
    if (frames_.size() == 1) begin_frame(at, arbiter);
    return;
  }
  const auto frame = std::ranges::find(frames_, record.number, [](const Frame& each) { return each.fact.number; });
  if (frame == frames_.end()) return;
  if (record.moment == gate::FrameMoment::kPresent) {
    frame->fact.present = at;
    return;
  }
  for (auto before = frames_.begin(); before != frame; ++before) complete_render(*before, Duration{0}, arbiter);
  frames_.erase(frames_.begin(), frame);  // of those before it, no end was told
  end_frame(record, arbiter, use);
}

void LiveClient::submit_render(Frame& frame, Time at, Arbiter& arbiter) {
  if (launched_ < next_) return;
  OpView op;
  op.number = next_number_++;
  op.name = "frame";
  op.is_render = true;
  op.submitted = at;
  frame.operation = op.number;
  if (!arbiter.submit(id_, op)) arbiter.slipped(id_, 1);
}

void LiveClient::complete_render(Frame& frame, Duration device_time, Arbiter& arbiter) {
  if (frame.operation) arbiter.complete(id_, *frame.operation, device_time);
  frame.operation.reset();
}

/// A program may hand over frames before the one before has been rendered: they begin when that one ends.
void LiveClient::begin_frame(Time at, Arbiter& arbiter) {
  FrameFact& frame = frames_.front().fact;
  frame.gpu_begin = std::max(frame.gpu_begin, at);
  arbiter.frame(id_, FrameEvent::kBegin, FrameView{.number = frame.number});
}

void LiveClient::end_frame(const gate::FrameRecord& record, Arbiter& arbiter, DeviceUse& use) {
  Frame ended = frames_.front();
  frames_.pop_front();
  FrameFact& fact = ended.fact;
  fact.gpu_end = std::max(clock_.at(record.gpu_end_ns != 0 ? record.gpu_end_ns : record.at_ns), fact.gpu_begin);
  fact.gpu_busy = record.gpu_busy_ns != 0 ? Duration{record.gpu_busy_ns} : fact.gpu_end - fact.gpu_begin;
  fact.present = std::max(fact.present, fact.gpu_end);
  fact.missed = spec_.pacing.period > Duration{0} && fact.present > fact.start + spec_.pacing.period;
  use.add(id_, fact.gpu_begin, fact.gpu_end);
  recorder_.on_frame(fact);
  recorder_.on_job(JobFact{id_, jobs_++, fact.start, fact.start, fact.gpu_end});
  complete_render(ended, fact.gpu_busy, arbiter);
  arbiter.frame(id_, FrameEvent::kEnd,
                FrameView{.number = fact.number, .gpu_busy = fact.gpu_busy, .quality_level = fact.quality_level});
  if (!frames_.empty()) begin_frame(fact.gpu_end, arbiter);
}

}  // namespace corun::live

#include "sim/live/client/live_client.h"

#include <algorithm>

#include "sim/live/client/group_times.h"
#include "tracer/gate/channel/word.h"

namespace corun::live {

namespace {

constexpr std::size_t kMostLateness = 1 << 20;
constexpr std::size_t kMostFramesAtOnce = 1 << 12;
constexpr Duration kLatestHeard = std::chrono::milliseconds{100};

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

}  // namespace

LiveClient::LiveClient(ClientId id, const ClientSpec& spec, gate::Lane& lane, Arbiter& arbiter, DeviceUse& use,
                       const executor::WallClock& clock, Recorder& recorder)
    : id_(id),
      spec_(spec),
      arbiter_(arbiter),
      use_(use),
      clock_(clock),
      recorder_(recorder),
      profile_(*spec.workload),
      lane_(lane),
      reader_(lane, clock),
      gate_(lane),
      jobs_(id, spec, arbiter, use, clock, recorder) {}

void LiveClient::set_memory(const MemoryTerms& terms) {
  memory_ = terms;
  lane_.memory_limit = terms.most_bytes;
  lane_.told_memory = terms.told_bytes;
  lane_.is_managed = terms.is_managed ? 1 : 0;
}

bool LiveClient::tell_server() {
  if (server_ == nullptr) return false;
  const ServerView says = server_->read(clock_);
  const bool has_changed = says.steps != said_.steps || says.oldest_request != said_.oldest_request;
  said_ = says;
  arbiter_.tell_server(id_, says);
  return has_changed;
}

bool LiveClient::poll() {
  const bool has_frames = poll_frames();
  const bool has_launches = poll_launches();
  return poll_ends() || has_launches || has_frames;
}

bool LiveClient::poll_frames() {
  bool has_news = false;
  for (std::uint64_t most = gate::kFrameDepth; most > 0; --most) {  // others are to be read, too
    const std::optional<LaneReader::FrameMark> mark = reader_.read_frame();
    if (!mark) break;
    has_news = true;
    switch (mark->moment) {
      case gate::FrameMoment::kBegin: {
        if (!reader_.checks().expect(jobs_.frames_in_progress() < kMostFramesAtOnce,
                                     "{} frames have begun and not ended", kMostFramesAtOnce))
          return true;
        counts_.first_work = std::min(counts_.first_work, mark->at);
        const bool is_submitted = !ops_.has_waiting();
        jobs_.begin_frame(mark->number, mark->at, is_submitted ? std::optional(next_number_++) : std::nullopt);
        break;
      }
      case gate::FrameMoment::kPresent:
        jobs_.present_frame(mark->number, mark->at);
        break;
      case gate::FrameMoment::kEnd:
        jobs_.end_frame(*mark);
        break;
    }
  }
  return has_news;
}

bool LiveClient::poll_launches() {
  bool has_news = false;
  for (std::uint64_t most = gate::kDepth; most > 0; --most) {
    const std::optional<LaneReader::LaunchEntry> entry = reader_.read_launch(gate_.retired());
    if (!entry) break;
    has_news = true;
    if (entry->said) {
      submit(entry->number, *entry->said);
    } else {
      ops_.add_void(next_number_);
    }
  }
  ops_.pass_by_void();
  return has_news;
}

void LiveClient::submit(std::uint64_t in_lane, const LaneReader::Said& launch) {
  LiveOp op{.number = next_number_,
            .submitted = launch.submitted,
            .kind = launch.kind,
            .name = launch.name,
            .stream = launch.stream,
            .slot_mark = launch.slot_mark,
            .blocks = launch.blocks,
            .bytes = launch.bytes};
  const OpView view = view_of(op);
  ++next_number_;
  op.expected = view.predicted_by_shape;
  ops_.add(op);
  ++counts_.launches;
  counts_.graphs += launch.kind == gate::LaunchKind::kGraph ? 1 : 0;
  counts_.first_work = std::min(counts_.first_work, launch.submitted);
  if (!gate_.has_passed(in_lane)) {
    last_question_ = clock_.now();
  } else if (counts_.heard_late.size() < kMostLateness) {
    counts_.heard_late.push_back(clock_.now() - launch.submitted);
  }
  tell_server();
  arbiter_.submit(id_, view);
}

OpView LiveClient::view_of(const LiveOp& launch) {
  OpView op;
  op.number = launch.number;
  op.name = reader_.name(launch.name);
  op.is_copy = is_copy(launch.kind);
  op.is_to_device = launch.kind == gate::LaunchKind::kCopyToDevice;
  op.is_from_device = launch.kind == gate::LaunchKind::kCopyFromDevice;
  op.blocks = launch.blocks;
  op.bytes = launch.bytes;
  op.predicted_by_name = profile_.by_name(op_kind(launch.kind), op.name);
  op.predicted_by_shape = profile_.by_shape(op_kind(launch.kind), op.name, op.blocks);
  op.position = static_cast<std::uint32_t>(launch.number % jobs_.launches_per_job());
  op.submitted = launch.submitted;
  return op;
}

void LiveClient::launch(std::uint64_t number) {
  const std::optional<std::uint64_t> in_lane = ops_.launch(number);
  if (!in_lane) return;  // rendering
  LiveOp& op = ops_.at(*in_lane);
  ++counts_.passed;
  op.launched = gate_.has_passed(*in_lane) ? op.submitted : std::max(clock_.now(), op.submitted);
}

void LiveClient::follow() {
  report_slipped();
  if (!reader_.checks().expect(gate_.is_as_set(), "its gate has been changed")) return;
  if (arbiter_.gate_is_open(id_)) return gate_.open();
  gate_.close(ops_.launched() + std::min<std::uint64_t>(arbiter_.admits_ahead(id_), gate::kFurthest / 2));
}

/// What passed before the gate was closed, or on a promise that the policy has not kept.
void LiveClient::report_slipped() {
  std::uint32_t count = 0;
  for (std::uint64_t in_lane = ops_.launched(); in_lane < ops_.next() && gate_.has_passed(in_lane); ++in_lane)
    count += ops_.at(in_lane).is_void ? 0 : 1;
  if (count == 0) return;
  counts_.slipped += count;
  arbiter_.slipped(id_, count);
}

bool LiveClient::poll_ends() {
  bool has_news = false;
  for (std::uint32_t slot = 0, used = reader_.slots_used(); slot < used; ++slot) {
    const std::uint64_t written = reader_.ends_written(slot);
    for (auto ends = reader_.next_ends(slot, written); ends && can_complete(*ends);
         ends = reader_.next_ends(slot, written)) {
      complete_group(*ends);
      has_news = true;
    }
  }
  ops_.retire();
  gate_.retire(ops_.first());
  return has_news;
}

/// An end may be read before its launch, or before the arbiter has let that pass: it then waits for the next time.
bool LiveClient::can_complete(const LaneReader::EndGroup& group) {
  return std::ranges::all_of(group.ends, [&](const LaneReader::End& end) {
    if (end.number >= ops_.next()) return false;
    const LiveOp* op = ops_.find(end.number);
    return op == nullptr || op->is_void || op->launched != kNever;
  });
}

void LiveClient::complete_group(const LaneReader::EndGroup& ended) {
  std::vector<LiveOp*> group;  // null: of a process that is gone
  std::vector<Duration> expected;
  Duration took{};
  for (const LaneReader::End& end : ended.ends) {
    group.push_back(ops_.find(end.number));
    expected.push_back(group.back() != nullptr ? group.back()->expected : kUnknownDuration);
    took += end.device_time;
  }
  const Time end_of_last = ended.ends.back().at;
  reader_.take(ended);
  Time from = end_of_last - took;
  auto op = group.begin();
  for (const Duration time : group_times(took, expected)) {
    if (*op != nullptr && !(*op)->is_complete) {
      const Time begin = std::max(from, (*op)->launched), end = std::max(from + time, begin);
      use_.add(id_, begin, end);
      ended_ = std::max(ended_, end);
      complete(**op, begin, end, time, false);
    }
    from += time;
    ++op;
  }
}

void LiveClient::complete(LiveOp& op, Time begin, Time end, Duration device_time, bool is_lost) {
  op.is_complete = true;
  OpFact fact;
  fact.client = id_;
  fact.number = op.number;
  fact.job = jobs_.finished();
  fact.stream = StreamId{op.stream};
  fact.kind = op_kind(op.kind);
  fact.name = reader_.name(op.name);
  fact.submitted = op.submitted;
  fact.launched = op.launched;
  fact.begin = begin;
  fact.end = end;
  fact.device_time = device_time;
  fact.is_lost = is_lost;
  recorder_.on_op(fact);
  jobs_.end_launch(op.submitted, end, op.kind == gate::LaunchKind::kGraph, is_lost);
  arbiter_.complete(id_, op.number, device_time);
}

void LiveClient::tell_use(Time now) {
  jobs_.tell_use(now, reader_.next_frame_end());
  const auto runs = [](const LiveOp& op) { return op.launched != kNever && !op.is_complete; };
  const auto oldest = std::ranges::find_if(ops_, runs);
  if (oldest != ops_.end()) use_.go_on(id_, std::max(oldest->launched, ended_), now);
}

Time LiveClient::oldest_unfinished() const {
  Time oldest = std::min(clock_.now() - kLatestHeard, jobs_.oldest_unfinished());
  for (const LiveOp& op : ops_)
    if (!op.is_complete) oldest = std::min(oldest, op.submitted);
  return oldest;
}

std::uint64_t LiveClient::waiting() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(ops_, [](const LiveOp& op) { return op.launched == kNever && !op.is_void; }));
}

std::uint64_t LiveClient::in_flight() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(ops_, [](const LiveOp& op) { return op.launched != kNever && !op.is_complete; }));
}

std::uint64_t LiveClient::allocated() const {
  std::uint64_t bytes = 0;
  for (std::uint32_t slot = 0; slot < reader_.slots_used(); ++slot) bytes += lane_.slots[slot].allocated.load();
  return bytes;
}

bool LiveClient::reap_dead_processes() {
  const std::vector<std::uint32_t> dead = reader_.dead_slots();
  for (const std::uint32_t slot : dead) lose_process(slot);
  const std::optional<std::uint32_t> renderer = reader_.dead_frame_process();
  if (!renderer) return !dead.empty();
  poll_frames();
  jobs_.lose_frames();
  reader_.free_frames(*renderer);
  return true;
}

void LiveClient::lose_process(std::uint32_t slot) {
  poll();
  report_slipped();
  poll_ends();
  reader_.forget_process(slot);
  for (LiveOp& op : ops_)
    if (!reader_.is_present(op.slot_mark)) lose(op);
  resubmit_waiting();
  ops_.pass_by_void();
  ops_.retire();
  gate_.retire(ops_.first());
  reader_.free_slot(slot);
}

/// The arbiter's queue cannot lose one from its middle: it gets what waits of processes that are present again.
void LiveClient::resubmit_waiting() {
  const auto waits = [](const LiveOp& op) { return op.launched == kNever && !op.is_void; };
  const auto is_dead = [&](const LiveOp& op) { return waits(op) && !reader_.is_present(op.slot_mark); };
  if (std::ranges::none_of(ops_, is_dead)) return;
  arbiter_.abandon(id_);
  next_number_ -= static_cast<std::uint64_t>(std::ranges::count_if(ops_, waits));
  for (std::uint64_t in_lane = ops_.launched(), end = ops_.next(); in_lane < end; ++in_lane) {
    LiveOp& op = ops_.at(in_lane);
    if (is_dead(op)) LiveOps::make_void(op);
    op.number = next_number_;
    if (op.is_void) continue;
    const OpView view = view_of(op);
    ++next_number_;
    arbiter_.submit(id_, view);
  }
}

/// What ends from now on, ends too late.
void LiveClient::lose_work() {
  poll_launches();
  report_slipped();
  for (LiveOp& op : ops_) lose(op);
  drop_waiting();
  jobs_.lose_job();
  ops_.pass_by_void();
  ops_.retire();
  gate_.retire(ops_.first());
}

void LiveClient::drop_waiting() {
  const auto waits = [](const LiveOp& op) { return op.launched == kNever && !op.is_void; };
  arbiter_.abandon(id_);
  next_number_ -= static_cast<std::uint64_t>(std::ranges::count_if(ops_, waits));
  for (LiveOp& op : ops_) {
    if (!waits(op)) continue;
    LiveOps::make_void(op);
    op.number = next_number_;
  }
}

void LiveClient::leave() {
  poll();
  report_slipped();
  evict();
}

void LiveClient::evict() {
  poll_ends();
  jobs_.lose_frames();
  arbiter_.abandon(id_);
  for (LiveOp& op : ops_) lose(op);
  ops_.clear(reader_.skip_launches());
  if (!gate_.is_open()) gate_.close(ops_.first());
  gate_.retire(ops_.first());
}

/// Where it was launched and has not ended.
void LiveClient::lose(LiveOp& op) {
  if (op.is_complete || op.launched == kNever) return;
  const Time now = std::max(clock_.now(), op.launched);
  complete(op, now, now, Duration{0}, true);
}

}  // namespace corun::live

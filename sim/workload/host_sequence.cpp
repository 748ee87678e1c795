#include "sim/workload/host_sequence.h"

#include <algorithm>

namespace corun {

namespace {

constexpr std::int64_t kQueuedWithin_ns = 20'000;

std::int64_t end_of(const OpRecord& op) { return op.start_ns + op.duration_ns; }

/// When each operation was submitted.
std::vector<std::int64_t> submission_times(const Timeline& timeline) {
  std::vector<std::int64_t> times(timeline.ops().size());
  struct Tail {
    std::int64_t submitted_ns = 0, end_ns = INT64_MIN / 2;
  };
  std::vector<Tail> tails(timeline.queues().size());
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    const OpRecord& op = timeline.ops()[i];
    Tail& tail = tails[op.queue];
    if (op.call != OpRecord::kNoIndex) {
      times[i] = timeline.calls()[op.call].start_ns;
    } else {
      const bool was_queued = op.start_ns - tail.end_ns <= kQueuedWithin_ns;
      times[i] = was_queued ? tail.submitted_ns : op.start_ns;
    }
    tail = Tail{times[i], std::max(tail.end_ns, end_of(op))};
  }
  // A stream runs in order: what ran before a recorded call's operation was submitted no later than that call.
  std::vector<std::int64_t> next_call(timeline.queues().size(), INT64_MAX);
  for (std::size_t i = times.size(); i-- > 0;) {
    const OpRecord& op = timeline.ops()[i];
    if (op.call == OpRecord::kNoIndex) times[i] = std::min(times[i], next_call[op.queue]);
    next_call[op.queue] = std::min(next_call[op.queue], times[i]);
  }
  return times;
}

/// Latest end, up to each call, of the operations a wait is for.
class Finished {
 public:
  explicit Finished(const Timeline& timeline) : timeline_(timeline), by_queue_(timeline.queues().size(), INT64_MIN) {}

  void submitted(std::uint32_t op) {
    const std::int64_t end = end_of(timeline_.ops()[op]);
    std::int64_t& queue = by_queue_[timeline_.ops()[op].queue];
    queue = std::max(queue, end);
    all_ = std::max(all_, end);
  }
  std::int64_t of(const HostEvent& wait) const {
    if (wait.kind == StepKind::kWaitOp) return end_of(timeline_.ops()[wait.target]);
    return wait.kind == StepKind::kWaitStream ? by_queue_[wait.target] : all_;
  }

 private:
  const Timeline& timeline_;
  std::vector<std::int64_t> by_queue_;
  std::int64_t all_ = INT64_MIN;
};

void add_wait(const CallRecord& call, std::uint32_t last_op, std::vector<HostEvent>& events) {
  HostEvent wait{call.start_ns, call.start_ns, StepKind::kWaitAll, 0};
  if (call.kind == CallKind::kBlockingCopy && last_op != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitOp;
    wait.target = last_op;
  } else if (call.kind == CallKind::kSynchronizeStream && call.queue != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitStream;
    wait.target = call.queue;
  } else if (call.kind == CallKind::kSynchronizeEvent && call.awaited != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitOp;
    wait.target = call.awaited;
  } else if (call.kind == CallKind::kSynchronizeEvent) {
    return;  // which work it was for is not recorded; waiting for everything would invent a dependency
  }
  wait.release_ns = call.start_ns + call.duration_ns;
  events.push_back(wait);
}

}  // namespace

std::vector<HostEvent> host_sequence(const Timeline& timeline) {
  std::vector<HostEvent> events;
  events.reserve(timeline.ops().size() + timeline.calls().size() / 8);
  const std::vector<std::int64_t> submitted = submission_times(timeline);
  std::vector<std::uint32_t> last_op_of_call(timeline.calls().size(), OpRecord::kNoIndex);
  for (std::uint32_t i = 0; i < submitted.size(); ++i) {
    events.push_back(HostEvent{submitted[i], submitted[i], StepKind::kSubmit, i});
    if (timeline.ops()[i].call != OpRecord::kNoIndex) last_op_of_call[timeline.ops()[i].call] = i;
  }
  for (std::uint32_t c = 0; c < last_op_of_call.size(); ++c) {
    const CallKind kind = timeline.calls()[c].kind;
    if (kind == CallKind::kSynchronizeDevice || kind == CallKind::kSynchronizeStream ||
        kind == CallKind::kSynchronizeEvent || kind == CallKind::kBlockingCopy)
      add_wait(timeline.calls()[c], last_op_of_call[c], events);
  }
  std::stable_sort(events.begin(), events.end(), [](const HostEvent& a, const HostEvent& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return (a.kind == StepKind::kSubmit) > (b.kind == StepKind::kSubmit);
  });
  Finished finished(timeline);
  std::vector<bool> seen(timeline.ops().size());
  std::size_t kept = 0;
  for (HostEvent& event : events) {
    if (event.kind == StepKind::kSubmit) {
      finished.submitted(event.target);
      seen[event.target] = true;
    } else {
      if (event.kind == StepKind::kWaitOp && !seen[event.target]) continue;
      // The host went on when its wait returned, but the time after the awaited work's end is its own: waking up.
      event.release_ns = std::clamp(finished.of(event), event.start_ns, std::max(event.start_ns, event.release_ns));
    }
    events[kept++] = event;
  }
  events.resize(kept);
  return events;
}

CrossStreamWaits::CrossStreamWaits(const Timeline& timeline) {
  if (std::ranges::find(timeline.calls(), CallKind::kStreamWaitEvent, &CallRecord::kind) == timeline.calls().end())
    return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;  // host time of each operation, in call order
  for (std::uint32_t i = 0; i < timeline.ops().size(); ++i) {
    const std::uint32_t call = timeline.ops()[i].call;
    if (call != OpRecord::kNoIndex) order.emplace_back(timeline.calls()[call].start_ns, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<std::uint32_t>> pending(timeline.queues().size());
  std::size_t next = 0;
  const auto hand_out = [&](std::int64_t until_ns) {
    for (; next < order.size() && order[next].first < until_ns; ++next) {
      const std::uint32_t op = order[next].second;
      std::vector<std::uint32_t>& its = pending[timeline.ops()[op].queue];
      if (its.empty()) continue;
      const auto begin = static_cast<std::uint32_t>(awaited_.size());
      awaited_.insert(awaited_.end(), its.begin(), its.end());
      waiting_.push_back({op, begin, static_cast<std::uint32_t>(awaited_.size())});
      its.clear();
    }
  };
  for (const CallRecord& call : timeline.calls()) {
    if (call.kind != CallKind::kStreamWaitEvent || call.queue == OpRecord::kNoIndex ||
        call.awaited == OpRecord::kNoIndex)
      continue;
    hand_out(call.start_ns);
    pending[call.queue].push_back(call.awaited);
  }
  hand_out(INT64_MAX);
  std::ranges::sort(waiting_, {}, &Waiting::op);
}

std::span<const std::uint32_t> CrossStreamWaits::of(std::uint32_t op) const {
  const auto found = std::ranges::lower_bound(waiting_, op, {}, &Waiting::op);
  if (found == waiting_.end() || found->op != op) return {};
  return std::span(awaited_).subspan(found->begin, found->end - found->begin);
}

}  // namespace corun

#include "sim/workload/host_sequence.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

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

bool is_wait(CallKind kind) {
  return kind == CallKind::kSynchronizeDevice || kind == CallKind::kSynchronizeStream ||
         kind == CallKind::kSynchronizeEvent || kind == CallKind::kBlockingCopy;
}

/// Of each call that waits for the copy that it submits, the last operation that came from it.
std::unordered_map<std::uint32_t, std::uint32_t> copies_of_blocking_calls(const Timeline& timeline) {
  std::unordered_map<std::uint32_t, std::uint32_t> copies;
  for (std::uint32_t i = 0; i < timeline.ops().size(); ++i) {
    const std::uint32_t call = timeline.ops()[i].call;
    if (call != OpRecord::kNoIndex && timeline.calls()[call].kind == CallKind::kBlockingCopy) copies[call] = i;
  }
  return copies;
}

/// What the host waits for in a call, and until when; nothing where that is not recorded.
std::optional<HostEvent> wait_of(const CallRecord& call, std::optional<std::uint32_t> copy) {
  HostEvent wait{call.start_ns, call.start_ns + call.duration_ns, StepKind::kWaitAll, 0};
  if (call.kind == CallKind::kBlockingCopy && copy) {
    wait.kind = StepKind::kWaitOp;
    wait.target = *copy;
  } else if (call.kind == CallKind::kSynchronizeStream && call.queue != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitStream;
    wait.target = call.queue;
  } else if (call.kind == CallKind::kSynchronizeEvent && call.awaited != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitOp;
    wait.target = call.awaited;
  } else if (call.kind == CallKind::kSynchronizeEvent) {
    return std::nullopt;  // waiting for everything would invent a dependency
  }
  return wait;
}

std::vector<HostEvent> waits_in(const Timeline& timeline) {
  std::vector<HostEvent> waits;
  const auto copies = copies_of_blocking_calls(timeline);
  for (std::uint32_t c = 0; c < timeline.calls().size(); ++c) {
    const CallRecord& call = timeline.calls()[c];
    if (!is_wait(call.kind)) continue;
    const auto copy = copies.find(c);
    const auto wait = wait_of(call, copy == copies.end() ? std::nullopt : std::optional(copy->second));
    if (wait) waits.push_back(*wait);
  }
  return waits;
}

}  // namespace

HostSequence::HostSequence(const Timeline& timeline)
    : submitted_(submission_times(timeline)), waits_(waits_in(timeline)) {
  order_by_start();
  settle_releases(timeline);
}

HostEvent HostSequence::operator[](std::size_t event) const {
  if (!is_submission(event)) return waits_[order_[event] - submitted_.size()];
  const std::int64_t start_ns = submitted_[order_[event]];
  return {start_ns, start_ns, StepKind::kSubmit, order_[event]};
}

std::int64_t HostSequence::start_of(std::size_t event) const {
  const std::uint32_t number = order_[event];
  return number < submitted_.size() ? submitted_[number] : waits_[number - submitted_.size()].start_ns;
}

std::size_t HostSequence::submissions(std::size_t begin, std::size_t end) const {
  return static_cast<std::size_t>(std::count_if(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                order_.begin() + static_cast<std::ptrdiff_t>(end),
                                                [&](std::uint32_t number) { return number < submitted_.size(); }));
}

/// At one instant submissions come before waits; operations keep the order in which they ran, waits that of calls.
void HostSequence::order_by_start() {
  order_.resize(submitted_.size() + waits_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto first_wait = order_.begin() + static_cast<std::ptrdiff_t>(submitted_.size());
  const auto submitted_at = [&](std::uint32_t op) { return submitted_[op]; };
  if (!std::ranges::is_sorted(submitted_)) std::ranges::stable_sort(order_.begin(), first_wait, {}, submitted_at);
  std::ranges::stable_sort(waits_, {}, &HostEvent::start_ns);
  const auto start = [&](std::uint32_t number) {
    return number < submitted_.size() ? submitted_[number] : waits_[number - submitted_.size()].start_ns;
  };
  std::ranges::inplace_merge(order_, first_wait, {}, start);
}

/// Leaves out waits for what was not submitted before.
void HostSequence::settle_releases(const Timeline& timeline) {
  Finished finished(timeline);
  std::vector<bool> seen(submitted_.size());
  std::size_t kept = 0;
  for (const std::uint32_t number : order_) {
    if (number < submitted_.size()) {
      finished.submitted(number);
      seen[number] = true;
    } else {
      HostEvent& wait = waits_[number - submitted_.size()];
      if (wait.kind == StepKind::kWaitOp && !seen[wait.target]) continue;
      // The host went on when its wait returned, but the time after the awaited work's end is its own: waking up.
      wait.release_ns = std::clamp(finished.of(wait), wait.start_ns, std::max(wait.start_ns, wait.release_ns));
    }
    order_[kept++] = number;
  }
  order_.resize(kept);
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

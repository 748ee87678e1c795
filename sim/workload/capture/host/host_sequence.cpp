#include "sim/workload/capture/host/host_sequence.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "traces/base/column.h"

namespace corun {

namespace {

constexpr std::int64_t kQueuedWithin_ns = 20'000;

/// When each operation was submitted: by its call, or, where that was not recorded, as far as its stream shows it.
Column<std::int64_t> guess_submissions(const CompactCapture& capture) {
  Column<std::int64_t> times(capture.op_count());
  struct Tail {
    std::int64_t submitted_ns = 0, end_ns = INT64_MIN / 2;
  };
  std::vector<Tail> tails(capture.rest.queues().size());
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    const std::int64_t start_ns = capture.starts[i];
    Tail& tail = tails[capture.prototype(i).queue];
    if (capture.call_of[i] == OpRecord::kNoIndex) {
      const bool was_queued = start_ns - tail.end_ns <= kQueuedWithin_ns;
      times[i] = was_queued ? tail.submitted_ns : start_ns;
    } else {
      times[i] = capture.call_starts[capture.call_of[i]];
    }
    tail = Tail{times[i], std::max(tail.end_ns, start_ns + capture.durations[i])};
  }
  // A stream runs in order: what ran before a recorded call's operation was submitted no later than that call.
  std::vector<std::int64_t> next_call(capture.rest.queues().size(), INT64_MAX);
  for (std::size_t i = times.size(); i-- > 0;) {
    std::int64_t& next = next_call[capture.prototype(i).queue];
    if (capture.call_of[i] == OpRecord::kNoIndex) times[i] = std::min(times[i], next);
    next = std::min(next, times[i]);
  }
  return times;
}

/// An operation and when it was submitted: what orders operations that were submitted at one instant is their number.
using Submission = std::pair<std::int64_t, std::uint32_t>;

constexpr std::size_t kHeldStretch = 4096;

/// Calls `on_op(op, submitted_ns)` in the order of submissions. Operations ran nearly in that order, so few are held
/// back at a time: those that some later one may precede. `first_from`: by stretch of operations, the first submission
/// in it and all behind it.
template <class OnOp>
void for_each_submission(const Instants& starts, const Durations& delays, const std::vector<std::int64_t>& first_from,
                         OnOp on_op) {
  const std::size_t count = starts.size();
  std::vector<Submission> held;
  Instants::Reader next_start(starts);
  Durations::Reader next_delay(delays);
  for (std::size_t op = 0; op < count;) {
    const std::size_t sorted = held.size();
    // As many more as are held back: in the worst order, all are merged a few times in larger and larger stretches.
    do {
      for (const std::size_t end = std::min(count, op + kHeldStretch); op < end; ++op)
        held.emplace_back(next_start.next() - next_delay.next(), static_cast<std::uint32_t>(op));
    } while (op < count && held.size() < 2 * sorted);
    const auto middle = held.begin() + static_cast<std::ptrdiff_t>(sorted);
    if (!std::is_sorted(middle, held.end())) std::sort(middle, held.end());
    if (sorted > 0) std::inplace_merge(held.begin(), middle, held.end());
    const Submission last{first_from[(op + kHeldStretch - 1) / kHeldStretch], UINT32_MAX};
    const auto kept = std::upper_bound(held.begin(), held.end(), last);
    for (auto it = held.begin(); it != kept; ++it) on_op(it->second, it->first);
    held.erase(held.begin(), kept);
  }
}

bool has(const std::vector<HostEvent>& waits, StepKind kind) {
  return std::ranges::find(waits, kind, &HostEvent::kind) != waits.end();
}

/// Latest end, up to each call, of the operations a wait is for. Only what some wait asks for is kept.
class Finished {
 public:
  Finished(const CompactCapture& capture, const std::vector<HostEvent>& waits)
      : capture_(capture),
        by_queue_(has(waits, StepKind::kWaitStream) ? capture.rest.queues().size() : 0, INT64_MIN),
        was_submitted_(has(waits, StepKind::kWaitOp) ? capture.op_count() : 0) {}

  void submitted(std::uint32_t op) {
    const std::int64_t end = capture_.end_of(op);
    all_ = std::max(all_, end);
    if (!by_queue_.empty()) {
      std::int64_t& queue = by_queue_[capture_.prototype(op).queue];
      queue = std::max(queue, end);
    }
    if (!was_submitted_.empty()) was_submitted_[op] = true;
  }
  bool was_submitted(std::uint32_t op) const { return was_submitted_[op]; }
  std::int64_t of(const HostEvent& wait) const {
    if (wait.kind == StepKind::kWaitOp) return capture_.end_of(wait.target);
    return wait.kind == StepKind::kWaitStream ? by_queue_[wait.target] : all_;
  }

 private:
  const CompactCapture& capture_;
  std::vector<std::int64_t> by_queue_;
  std::vector<bool> was_submitted_;  // by operation
  std::int64_t all_ = INT64_MIN;
};

bool is_wait(CallKind kind) {
  return kind == CallKind::kSynchronizeDevice || kind == CallKind::kSynchronizeStream ||
         kind == CallKind::kSynchronizeEvent || kind == CallKind::kBlockingCopy;
}

/// Of each call that waits for the copy that it submits, the last operation that came from it.
std::unordered_map<std::uint32_t, std::uint32_t> copies_of_blocking_calls(const CompactCapture& capture) {
  std::unordered_map<std::uint32_t, std::uint32_t> copies;
  for (const auto& [number, call] : capture.other_calls)
    if (call.kind == CallKind::kBlockingCopy) copies.emplace(number, OpRecord::kNoIndex);
  if (copies.empty()) return copies;
  for (std::uint32_t i = 0; i < capture.op_count(); ++i)
    if (const auto copy = copies.find(capture.call_of[i]); copy != copies.end()) copy->second = i;
  return copies;
}

/// What the host waits for in a call, and until when; nothing where that is not recorded.
std::optional<HostEvent> wait_of(const CallRecord& call, std::uint32_t copy) {
  HostEvent wait{call.start_ns, call.start_ns + call.duration_ns, StepKind::kWaitAll, 0};
  if (call.kind == CallKind::kBlockingCopy && copy != OpRecord::kNoIndex) {
    wait.kind = StepKind::kWaitOp;
    wait.target = copy;
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

std::vector<HostEvent> waits_in(const CompactCapture& capture) {
  std::vector<HostEvent> waits;
  const auto copies = copies_of_blocking_calls(capture);
  for (const auto& [number, call] : capture.other_calls) {
    if (!is_wait(call.kind)) continue;
    const auto copy = copies.find(number);
    const auto wait = wait_of(call, copy == copies.end() ? OpRecord::kNoIndex : copy->second);
    if (wait) waits.push_back(*wait);
  }
  return waits;
}

}  // namespace

HostSequence::HostSequence(CompactCapture& capture) : has_call_(capture.op_count(), true), waits_(waits_in(capture)) {
  const std::vector<std::int64_t> first_from = set_delays(capture);
  set_events(capture, first_from);
}

HostEvent HostSequence::operator[](std::size_t event) const {
  const std::uint32_t number = order_[event];
  if (number >= op_count()) return waits_[number - op_count()];
  return {starts_[event], starts_[event], StepKind::kSubmit, number};
}

std::size_t HostSequence::submissions(std::size_t begin, std::size_t end) const {
  std::size_t count = 0;
  for (std::size_t event = begin; event < end; ++event) count += is_submission(event) ? 1 : 0;
  return count;
}

/// Returns what for_each_submission asks for.
std::vector<std::int64_t> HostSequence::set_delays(CompactCapture& capture) {
  const std::size_t count = capture.op_count();
  Indices::Reader calls(capture.call_of);
  bool are_known = true;
  for (std::size_t i = 0; i < count; ++i)
    if (calls.next() == OpRecord::kNoIndex) are_known = has_call_[i] = false;
  delays_.reserve(count);
  std::vector<std::int64_t> first_from;
  Instants::Reader starts(capture.starts);
  const auto add = [&](std::size_t op, std::int64_t submitted_ns) {
    delays_.push_back(starts.next() - submitted_ns);
    if (op % kHeldStretch == 0) first_from.push_back(submitted_ns);
    first_from.back() = std::min(first_from.back(), submitted_ns);
  };
  if (are_known) {
    Indices::Drain known_calls(std::move(capture.call_of));
    for (std::size_t i = 0; i < count; ++i) add(i, capture.call_starts[known_calls.next()]);
  } else {
    const Column<std::int64_t> submitted = guess_submissions(capture);
    for (std::size_t i = 0; i < count; ++i) add(i, submitted[i]);
  }
  capture.forget_calls();
  first_from.push_back(INT64_MAX);
  for (std::size_t i = first_from.size() - 1; i-- > 0;) first_from[i] = std::min(first_from[i], first_from[i + 1]);
  return first_from;
}

/// At one instant submissions come before waits; operations keep the order in which they ran, waits that of calls.
/// Leaves out waits for what was not submitted before.
void HostSequence::set_events(const CompactCapture& capture, const std::vector<std::int64_t>& first_from) {
  std::ranges::stable_sort(waits_, {}, &HostEvent::start_ns);
  order_.reserve(op_count() + waits_.size());
  starts_.reserve(op_count() + waits_.size());
  Finished finished(capture, waits_);
  std::size_t next_wait = 0;
  const auto add_waits_before = [&](std::int64_t until_ns) {
    for (; next_wait < waits_.size() && waits_[next_wait].start_ns < until_ns; ++next_wait) {
      HostEvent& wait = waits_[next_wait];
      if (wait.kind == StepKind::kWaitOp && !finished.was_submitted(wait.target)) continue;
      // The host went on when its wait returned, but the time after the awaited work's end is its own: waking up.
      wait.release_ns = std::clamp(finished.of(wait), wait.start_ns, std::max(wait.start_ns, wait.release_ns));
      order_.push_back(static_cast<std::uint32_t>(op_count() + next_wait));
      starts_.push_back(wait.start_ns);
    }
  };
  for_each_submission(capture.starts, delays_, first_from, [&](std::uint32_t op, std::int64_t submitted_ns) {
    add_waits_before(submitted_ns);
    if (!waits_.empty()) finished.submitted(op);
    order_.push_back(op);
    starts_.push_back(submitted_ns);
  });
  add_waits_before(INT64_MAX);
}

CrossStreamWaits::CrossStreamWaits(const CompactCapture& capture) {
  const auto is_stream_wait = [](const CompactCapture::OtherCall& other) {
    return other.call.kind == CallKind::kStreamWaitEvent;
  };
  if (std::ranges::none_of(capture.other_calls, is_stream_wait)) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;  // host time of each operation, in call order
  for (std::uint32_t i = 0; i < capture.op_count(); ++i) {
    const std::uint32_t call = capture.call_of[i];
    if (call != OpRecord::kNoIndex) order.emplace_back(capture.call_starts[call], i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<std::uint32_t>> pending(capture.rest.queues().size());
  std::size_t next = 0;
  const auto hand_out = [&](std::int64_t until_ns) {
    for (; next < order.size() && order[next].first < until_ns; ++next) {
      const std::uint32_t op = order[next].second;
      std::vector<std::uint32_t>& its = pending[capture.prototype(op).queue];
      if (its.empty()) continue;
      const auto begin = static_cast<std::uint32_t>(awaited_.size());
      awaited_.insert(awaited_.end(), its.begin(), its.end());
      waiting_.push_back({op, begin, static_cast<std::uint32_t>(awaited_.size())});
      its.clear();
    }
  };
  for (const auto& [number, call] : capture.other_calls) {
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

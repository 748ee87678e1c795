#include "sim/workload/capture/host_sequence.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace corun {

namespace {

constexpr std::int64_t kQueuedWithin_ns = 20'000;

/// When operations without a recorded call were submitted, as far as their streams show it.
void guess_submissions(const CompactCapture& capture, Column<std::int64_t>& times) {
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
}

/// When each operation was submitted.
Column<std::int64_t> submission_times(const CompactCapture& capture) {
  Column<std::int64_t> times(capture.op_count());
  bool are_known = true;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::uint32_t call = capture.call_of[i];
    if (call == OpRecord::kNoIndex)
      are_known = false;
    else
      times[i] = capture.call_starts[call];
  }
  if (!are_known) guess_submissions(capture, times);
  return times;
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
  for (std::size_t i = 0; i < has_call_.size(); ++i)
    if (capture.call_of[i] == OpRecord::kNoIndex) has_call_[i] = false;
  set_order(capture);
  set_starts(capture);
}

void HostSequence::set_order(CompactCapture& capture) {
  const Column<std::int64_t> submitted = submission_times(capture);
  capture.forget_calls();
  order_by_start(submitted);
  settle_releases(capture);
  set_delays(capture, submitted);
}

HostEvent HostSequence::operator[](std::size_t event) const {
  if (!is_submission(event)) return waits_[order_[event] - op_count()];
  return {starts_[event], starts_[event], StepKind::kSubmit, order_[event]};
}

std::size_t HostSequence::submissions(std::size_t begin, std::size_t end) const {
  return static_cast<std::size_t>(std::count_if(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                order_.begin() + static_cast<std::ptrdiff_t>(end),
                                                [&](std::uint32_t number) { return number < op_count(); }));
}

/// At one instant submissions come before waits; operations keep the order in which they ran, waits that of calls.
void HostSequence::order_by_start(const Column<std::int64_t>& submitted) {
  order_.resize(submitted.size() + waits_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto first_wait = order_.begin() + static_cast<std::ptrdiff_t>(submitted.size());
  const auto submitted_at = [&](std::uint32_t op) { return submitted[op]; };
  if (!std::ranges::is_sorted(submitted)) std::ranges::stable_sort(order_.begin(), first_wait, {}, submitted_at);
  std::ranges::stable_sort(waits_, {}, &HostEvent::start_ns);
  std::size_t ops = submitted.size();
  for (std::size_t waits = waits_.size(); waits > 0;) {  // from the last event on, so that nothing is moved twice
    const bool is_op_last = ops > 0 && submitted[order_[ops - 1]] > waits_[waits - 1].start_ns;
    std::uint32_t& last = order_[ops + waits - 1];
    last = is_op_last ? order_[--ops] : static_cast<std::uint32_t>(submitted.size() + --waits);
  }
}

/// Leaves out waits for what was not submitted before.
void HostSequence::settle_releases(const CompactCapture& capture) {
  Finished finished(capture, waits_);
  std::size_t kept = 0;
  for (const std::uint32_t number : order_) {
    if (number < op_count()) {
      finished.submitted(number);
    } else {
      HostEvent& wait = waits_[number - op_count()];
      if (wait.kind == StepKind::kWaitOp && !finished.was_submitted(wait.target)) continue;
      // The host went on when its wait returned, but the time after the awaited work's end is its own: waking up.
      wait.release_ns = std::clamp(finished.of(wait), wait.start_ns, std::max(wait.start_ns, wait.release_ns));
    }
    order_[kept++] = number;
  }
  order_.resize(kept);
}

void HostSequence::set_delays(const CompactCapture& capture, const Column<std::int64_t>& submitted) {
  delays_.reserve(submitted.size());
  for (std::size_t i = 0; i < submitted.size(); ++i) delays_.push_back(capture.starts[i] - submitted[i]);
}

void HostSequence::set_starts(const CompactCapture& capture) {
  starts_.reserve(order_.size());
  for (const std::uint32_t number : order_) {
    const bool is_wait = number >= op_count();
    starts_.push_back(is_wait ? waits_[number - op_count()].start_ns : capture.starts[number] - delays_[number]);
  }
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

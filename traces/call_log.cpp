#include "traces/call_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "traces/awaited_work.h"

namespace corun {
namespace {

constexpr std::uint32_t kNone = OpRecord::kNoIndex;

// Outer calls come before the calls they contain.
bool comes_before(const LoggedCall& a, const LoggedCall& b) {
  return std::tuple{a.thread.process, a.thread.thread, a.start_ns, -a.duration_ns, a.is_driver} <
         std::tuple{b.thread.process, b.thread.thread, b.start_ns, -b.duration_ns, b.is_driver};
}

bool is_part_of(const LoggedCall& inner, const LoggedCall& outer) {
  const bool has_same_id = inner.correlation == outer.correlation && inner.correlation != kNoCorrelation;
  const bool same_call = has_same_id || (inner.is_driver && !outer.is_driver);
  return same_call && inner.start_ns <= outer.end_ns() && inner.end_ns() <= outer.end_ns();
}

}  // namespace

void CallLog::add_submission(std::uint32_t op, std::uint64_t id_space, std::uint64_t correlation, bool blocks) {
  submissions_.push_back({op, id_space, correlation, blocks});
}

void CallLog::join(TimelineBuilder& builder) {
  sort_calls();
  find_outer_calls();
  index_ids();
  assign_submissions(builder);
  name_kinds();
  resolve_waits(builder);
  add_calls(builder);
}

bool CallLog::has_known_calls() const {
  return std::ranges::any_of(calls_, [](const LoggedCall& call) { return call.kind.has_value(); });
}

void CallLog::sort_calls() { std::stable_sort(calls_.begin(), calls_.end(), comes_before); }

void CallLog::find_outer_calls() {
  outer_.resize(calls_.size());
  std::iota(outer_.begin(), outer_.end(), 0U);
  std::vector<std::uint32_t> open;  // calls of this thread that have not ended
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const LoggedCall& call = calls_[i];
    while (!open.empty() &&
           (calls_[open.back()].thread != call.thread || calls_[open.back()].end_ns() < call.start_ns)) {
      open.pop_back();
    }
    for (auto candidate = open.rbegin(); candidate != open.rend() && outer_[i] == i; ++candidate) {
      if (is_part_of(call, calls_[*candidate])) outer_[i] = outer_[*candidate];
    }
    open.push_back(i);
  }
}

void CallLog::index_ids() {
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].correlation == kNoCorrelation) continue;
    calls_of_id_[{calls_[i].id_space, calls_[i].correlation}].push_back(i);
  }
  for (auto& [id, calls] : calls_of_id_) {
    std::stable_sort(calls.begin(), calls.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return calls_[a].start_ns < calls_[b].start_ns; });
  }
}

std::uint32_t CallLog::call_of(std::uint64_t id_space, std::uint64_t correlation, std::int64_t not_after_ns) const {
  const auto found = calls_of_id_.find({id_space, correlation});
  if (found == calls_of_id_.end()) return kNone;
  const std::vector<std::uint32_t>& calls = found->second;
  auto later = std::partition_point(calls.begin(), calls.end(),
                                    [&](std::uint32_t call) { return calls_[call].start_ns <= not_after_ns; });
  if (later != calls.begin()) --later;
  return outer_[*later];
}

void CallLog::assign_submissions(TimelineBuilder& builder) {
  for (const Submission& submission : submissions_) {
    OpRecord& op = builder.op(submission.op);
    op.call = call_of(submission.id_space, submission.correlation, op.start_ns);
    if (op.call == kNone) continue;
    LoggedCall& call = calls_[op.call];
    if (!call.kind) call.kind = CallKind::kLaunch;
    if (submission.blocks && call.kind == CallKind::kLaunch) call.kind = CallKind::kBlockingCopy;
  }
}

void CallLog::name_kinds() {
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    LoggedCall& outermost = calls_[outer_[i]];
    if (!outermost.kind) outermost.kind = calls_[i].kind;
  }
}

void CallLog::resolve_waits(TimelineBuilder& builder) {
  std::vector<std::uint32_t> ops;
  std::vector<std::int64_t> launched_ns(builder.op_count(), std::numeric_limits<std::int64_t>::min());
  std::vector<std::uint64_t> correlations(builder.op_count());
  for (const Submission& submission : submissions_) {
    ops.push_back(submission.op);
    const std::uint32_t call = builder.op(submission.op).call;
    if (call != kNone) launched_ns[submission.op] = calls_[call].start_ns;
    correlations[submission.op] = submission.correlation;
  }
  const AwaitedWork work{builder, ops, std::move(launched_ns), std::move(correlations)};
  targets_.resize(calls_.size());
  for (const LoggedWait& wait : waits_) apply(wait, work);
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    if (outer_[i] == i && calls_[i].kind && !targets_[i].is_left_out) infer_target(i, work);
  }
  note_unnamed_events(builder);
}

void CallLog::apply(const LoggedWait& wait, const AwaitedWork& work) {
  const std::uint32_t call = call_of(wait.id_space, wait.correlation, std::numeric_limits<std::int64_t>::max());
  if (call == kNone) return;
  Target& target = targets_[call];
  if (wait.queue) target.queue = *wait.queue;
  if (!wait.record_correlation) return;
  std::optional<std::uint32_t> awaited;
  if (wait.record_queue) awaited = work.before_record(*wait.record_queue, *wait.record_correlation);
  target.awaited = awaited.value_or(kNone);
  target.is_left_out = !awaited;
}

void CallLog::infer_target(std::uint32_t call, const AwaitedWork& work) {
  const LoggedCall& logged = calls_[call];
  Target& target = targets_[call];
  if (logged.kind == CallKind::kStreamWaitEvent) {
    target.is_left_out = target.is_unnamed = target.queue == kNone || target.awaited == kNone;
  } else if (logged.kind == CallKind::kSynchronizeEvent && target.awaited == kNone) {
    target.awaited = work.ended_by(logged.start_ns, logged.end_ns()).value_or(kNone);
    target.is_left_out = target.awaited == kNone;
  } else if (logged.kind == CallKind::kSynchronizeStream && target.queue == kNone) {
    target.queue = work.queue_drained_by(logged.start_ns, logged.end_ns()).value_or(kNone);
    target.is_left_out = target.queue == kNone;
  }
}

void CallLog::note_unnamed_events(TimelineBuilder& builder) const {
  const auto unnamed = std::count_if(targets_.begin(), targets_.end(), [](const Target& t) { return t.is_unnamed; });
  if (unnamed == 0) return;
  builder.provenance().notes.push_back(
      fmt::format("{} waits of a stream for an event are left out: the capture does not name the event", unnamed));
}

void CallLog::add_calls(TimelineBuilder& builder) {
  std::vector<std::uint32_t> row_of(calls_.size(), kNone);
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const LoggedCall& call = calls_[i];
    if (outer_[i] != i || !call.kind || targets_[i].is_left_out) continue;
    row_of[i] = builder.add(CallRecord{.start_ns = call.start_ns,
                                       .duration_ns = call.duration_ns,
                                       .kind = *call.kind,
                                       .thread = builder.thread(call.thread),
                                       .queue = targets_[i].queue,
                                       .awaited = targets_[i].awaited});
  }
  for (const Submission& submission : submissions_) {
    OpRecord& op = builder.op(submission.op);
    if (op.call == kNone) continue;
    op.call = row_of[op.call];
    if (op.call == kNone) continue;
    CallRecord& call = builder.call(op.call);
    if (call.queue == kNone) call.queue = op.queue;
  }
}

}  // namespace corun

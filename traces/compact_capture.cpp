#include "traces/compact_capture.h"

#include <algorithm>
#include <utility>

namespace corun {
namespace {

void raise(std::int64_t& largest, std::uint32_t reference) { largest = std::max(largest, std::int64_t{reference}); }

void raise_if_any(std::int64_t& largest, std::uint32_t reference) {
  if (reference != OpRecord::kNoIndex) raise(largest, reference);
}

template <class Rows>
bool has_room(std::int64_t largest, const Rows& rows) {
  return largest < static_cast<std::int64_t>(rows.size());
}

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  const std::uint64_t x = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return x ^ (x >> 32);
}

}  // namespace

void CompactCapture::forget_calls() {
  call_of = std::vector<std::uint32_t>();
  call_starts = Instants();
  other_calls = std::vector<OtherCall>();
}

std::size_t CompactRows::Hash::operator()(const OpRecord& prototype) const {
  const std::uint64_t what = mix(static_cast<std::uint64_t>(prototype.kind), prototype.name.value);
  const std::uint64_t where = mix(prototype.queue, prototype.shape);
  return mix(mix(what, where), mix(prototype.bytes, prototype.graph_node));
}

std::uint32_t CompactRows::number_of(const OpRecord& prototype) {
  const auto next = static_cast<std::uint32_t>(capture_.prototypes.size());
  const auto [entry, is_new] = numbers_.try_emplace(prototype, next);
  if (!is_new) return entry->second;
  capture_.prototypes.push_back(prototype);
  raise_if_any(largest_.name, prototype.name.value);
  raise(largest_.queue, prototype.queue);
  raise_if_any(largest_.shape, prototype.shape);
  return next;
}

void CompactRows::check_times(const Instants& before, std::int64_t start_ns, std::int64_t duration_ns) {
  const bool is_in_order = before.empty() || before.back() <= start_ns;
  are_in_order_ = are_in_order_ && is_in_order && duration_ns >= 0 && duration_ns <= kLongestNs;
}

void CompactRows::add(const OpRecord& op) {
  check_times(capture_.starts, op.start_ns, op.duration_ns);
  if (!are_in_order_) return;
  OpRecord prototype = op;
  prototype.start_ns = prototype.duration_ns = 0;
  prototype.call = OpRecord::kNoIndex;
  prototype.graph_node = op.graph_node == 0 ? 0 : 1;
  capture_.prototype_of.push_back(number_of(prototype));
  capture_.starts.push_back(op.start_ns);
  capture_.durations.push_back(op.duration_ns);
  capture_.call_of.push_back(op.call);
  raise_if_any(largest_.call, op.call);
}

void CompactRows::add(const CallRecord& call) {
  check_times(capture_.call_starts, call.start_ns, call.duration_ns);
  if (!are_in_order_) return;
  const auto number = static_cast<std::uint32_t>(capture_.call_starts.size());
  if (call.kind != CallKind::kLaunch) capture_.other_calls.push_back({number, call});
  capture_.call_starts.push_back(call.start_ns);
  raise(largest_.thread, call.thread);
  raise_if_any(largest_.queue, call.queue);
  raise_if_any(largest_.awaited, call.awaited);
}

RowSpan CompactRows::span() const {
  RowSpan span;
  for (const Instants* starts : {&capture_.starts, &capture_.call_starts}) {
    if (starts->empty()) continue;
    span = {std::min(span.first_ns, starts->front()), std::max(span.last_ns, starts->back())};
  }
  return span;
}

bool CompactRows::are_sound(const Timeline& rest) const {
  return are_in_order_ && has_room(largest_.name, rest.strings()) && has_room(largest_.queue, rest.queues()) &&
         has_room(largest_.shape, rest.shapes()) && has_room(largest_.thread, rest.threads()) &&
         has_room(largest_.call, capture_.call_starts) && has_room(largest_.awaited, capture_.prototype_of);
}

CompactCapture CompactRows::take(Timeline rest) && {
  capture_.rest = std::move(rest);
  return std::move(capture_);
}

CompactCapture compact(Timeline timeline) {
  CompactRows rows;
  for (const OpRecord& op : timeline.ops()) rows.add(op);
  timeline.forget_ops();
  for (const CallRecord& call : timeline.calls()) rows.add(call);
  timeline.forget_calls();
  return std::move(rows).take(std::move(timeline));
}

}  // namespace corun

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

bool is_of_graph(const OpRecord& op) { return op.graph_node != 0; }

bool is_like(const OpRecord& prototype, const OpRecord& op) {
  return prototype.name == op.name && prototype.shape == op.shape && prototype.queue == op.queue &&
         prototype.kind == op.kind && prototype.bytes == op.bytes && is_of_graph(prototype) == is_of_graph(op);
}

OpRecord prototype_like(const OpRecord& op) {
  OpRecord prototype = op;
  prototype.start_ns = prototype.duration_ns = 0;
  prototype.call = OpRecord::kNoIndex;
  prototype.graph_node = is_of_graph(op) ? 1 : 0;
  return prototype;
}

}  // namespace

void CompactCapture::forget_calls() {
  call_of = Indices();
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
  followers_.push_back(next);
  raise_if_any(largest_.name, prototype.name.value);
  raise(largest_.queue, prototype.queue);
  raise_if_any(largest_.shape, prototype.shape);
  return next;
}

/// Programs do the same over and over: what followed the operation before last time is tried before it is looked up.
std::uint32_t CompactRows::prototype_of(const OpRecord& op) {
  if (!followers_.empty()) {
    const std::uint32_t likely = followers_[last_prototype_];
    if (is_like(capture_.prototypes[likely], op)) return last_prototype_ = likely;
  }
  const std::uint32_t number = number_of(prototype_like(op));
  followers_[last_prototype_] = number;
  return last_prototype_ = number;
}

template <class Row>
bool CompactRows::is_in_order(std::int64_t& last_ns, const Row& row) {
  are_in_order_ = are_in_order_ && last_ns <= row.start_ns && row.duration_ns >= 0 && row.duration_ns <= kLongestNs;
  last_ns = row.start_ns;
  return are_in_order_;
}

void CompactRows::reserve(std::size_t ops, std::size_t calls) {
  capture_.prototype_of.reserve(ops);
  capture_.starts.reserve(ops);
  capture_.durations.reserve(ops);
  capture_.call_of.reserve(ops);
  capture_.call_starts.reserve(calls);
}

void CompactRows::add(std::span<const OpRecord> ops) {
  for (const OpRecord& op : ops) {
    if (!is_in_order(last_start_ns_, op)) return;
    capture_.prototype_of.push_back(prototype_of(op));
    capture_.starts.push_back(op.start_ns);
    capture_.durations.push_back(op.duration_ns);
    capture_.call_of.push_back(op.call);
    raise_if_any(largest_.call, op.call);
  }
}

void CompactRows::add(std::span<const CallRecord> calls) {
  for (const CallRecord& call : calls) {
    if (!is_in_order(last_call_ns_, call)) return;
    const auto number = static_cast<std::uint32_t>(capture_.call_starts.size());
    if (call.kind != CallKind::kLaunch) capture_.other_calls.push_back({number, call});
    capture_.call_starts.push_back(call.start_ns);
    raise(largest_.thread, call.thread);
    raise_if_any(largest_.queue, call.queue);
    raise_if_any(largest_.awaited, call.awaited);
  }
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
  rows.add(timeline.ops());
  timeline.forget_ops();
  rows.add(timeline.calls());
  timeline.forget_calls();
  return std::move(rows).take(std::move(timeline));
}

}  // namespace corun

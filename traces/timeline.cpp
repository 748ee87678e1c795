#include "traces/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "traces/base/column.h"
#include "traces/base/error.h"

namespace corun {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return x ^ (x >> 32);
}

std::uint64_t hash_of(const QueueRecord& q) {
  std::uint64_t hash = mix(mix(mix(q.device, q.context), q.stream), q.process);
  return mix(hash, static_cast<std::uint32_t>(q.priority));
}

std::uint64_t hash_of(const LaunchShape& s) {
  std::uint64_t grid = mix(mix(s.grid_x, s.grid_y), s.grid_z);
  std::uint64_t block = mix(mix(s.block_x, s.block_y), s.block_z);
  return mix(mix(grid, block), mix(s.registers_per_thread, s.shared_memory_bytes));
}

// Index of an equal row, which is added if there is none.
template <class Row>
std::uint32_t index_of(std::vector<Row>& rows, std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>& index,
                       const Row& row) {
  std::vector<std::uint32_t>& candidates = index[hash_of(row)];
  for (std::uint32_t candidate : candidates) {
    if (rows[candidate] == row) return candidate;
  }
  candidates.push_back(static_cast<std::uint32_t>(rows.size()));
  rows.push_back(row);
  return candidates.back();
}

// The same for the few rows (threads, swap chains) that need no index.
template <class Row>
std::uint32_t index_of(std::vector<Row>& rows, const Row& row) {
  auto found = std::find(rows.begin(), rows.end(), row);
  if (found == rows.end()) found = rows.insert(rows.end(), row);
  return static_cast<std::uint32_t>(found - rows.begin());
}

template <class Row>
void reserve_rows(std::vector<Row>& rows, std::size_t count) {
  rows.reserve(count);
  prefer_large_pages(rows.data(), rows.capacity() * sizeof(Row));
}

// Sums stop at the largest number: durations are bounded one by one only.
void add_capped(std::int64_t& sum, std::int64_t ns) {
  if (__builtin_add_overflow(sum, ns, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

TimelineSummary summarize_frames(const std::vector<FrameRecord>& frames) {
  TimelineSummary summary{.frames = frames.size()};
  for (const FrameRecord& frame : frames) add_capped(summary.busy_ns, std::max<std::int64_t>(frame.gpu_busy_ns, 0));
  if (!frames.empty()) summary.span_ns = frames.back().present_ns - frames.front().present_ns;
  return summary;
}

}  // namespace

std::string_view to_string(OpKind kind) {
  switch (kind) {
    case OpKind::kKernel:
      return "kernel";
    case OpKind::kCopyHostToDevice:
      return "copy_host_to_device";
    case OpKind::kCopyDeviceToHost:
      return "copy_device_to_host";
    case OpKind::kCopyDeviceToDevice:
      return "copy_device_to_device";
    case OpKind::kCopyPeer:
      return "copy_peer";
    case OpKind::kMemset:
      return "memset";
    case OpKind::kRender:
      return "render";
  }
  CORUN_ASSERT(false, "OpKind {}", static_cast<int>(kind));
}

bool is_copy(OpKind kind) { return kind >= OpKind::kCopyHostToDevice && kind <= OpKind::kCopyPeer; }

bool is_device_memory_op(OpKind kind) { return kind == OpKind::kMemset || kind == OpKind::kCopyDeviceToDevice; }

std::string_view to_string(MemorySource source) {
  switch (source) {
    case MemorySource::kReserved:
      return "reserved by the framework";
    case MemorySource::kAllocated:
      return "allocated through CUDA";
    case MemorySource::kInUse:
      return "in use on the device";
  }
  return "unknown";
}

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunch:
      return "launch";
    case CallKind::kGraphLaunch:
      return "graph_launch";
    case CallKind::kSynchronizeDevice:
      return "synchronize_device";
    case CallKind::kSynchronizeStream:
      return "synchronize_stream";
    case CallKind::kSynchronizeEvent:
      return "synchronize_event";
    case CallKind::kStreamWaitEvent:
      return "stream_wait_event";
    case CallKind::kBlockingCopy:
      return "blocking_copy";
  }
  CORUN_ASSERT(false, "CallKind {}", static_cast<int>(kind));
}

std::string_view Timeline::text(StringId id) const {
  return id.is_none() ? std::string_view{} : std::string_view{strings_[id.value]};
}

StringId TimelineBuilder::intern(std::string_view text) {
  const auto next = static_cast<std::uint32_t>(timeline_.strings_.size());
  const auto [entry, is_new] = string_index_.try_emplace(std::string{text}, next);
  if (is_new) timeline_.strings_.push_back(entry->first);
  return StringId{entry->second};
}

std::uint32_t TimelineBuilder::queue(const QueueRecord& queue) {
  return index_of(timeline_.queues_, queue_index_, queue);
}

std::uint32_t TimelineBuilder::thread(const ThreadRecord& thread) { return index_of(timeline_.threads_, thread); }

bool TimelineBuilder::has_thread(const ThreadRecord& thread) const {
  return std::ranges::find(timeline_.threads_, thread) != timeline_.threads_.end();
}

std::uint32_t TimelineBuilder::swapchain(const SwapchainRecord& swapchain) {
  return index_of(timeline_.swapchains_, swapchain);
}

std::uint32_t TimelineBuilder::shape(const LaunchShape& shape) {
  return index_of(timeline_.shapes_, shape_index_, shape);
}

void TimelineBuilder::reserve(std::size_t ops, std::size_t calls) {
  if (sink_ != nullptr) return sink_->reserve(ops, calls);
  reserve_rows(timeline_.ops_, ops);
  reserve_rows(timeline_.calls_, calls);
}

std::uint32_t TimelineBuilder::add(const OpRecord& op) {
  if (sink_ != nullptr) {
    sink_->add(std::span(&op, 1));
    return OpRecord::kNoIndex;
  }
  timeline_.ops_.push_back(op);
  return static_cast<std::uint32_t>(timeline_.ops_.size() - 1);
}

std::uint32_t TimelineBuilder::add(const CallRecord& call) {
  if (sink_ != nullptr) {
    sink_->add(std::span(&call, 1));
    return OpRecord::kNoIndex;
  }
  timeline_.calls_.push_back(call);
  return static_cast<std::uint32_t>(timeline_.calls_.size() - 1);
}

void TimelineBuilder::add(std::span<const OpRecord> ops) {
  if (sink_ != nullptr) return sink_->add(ops);
  timeline_.ops_.insert(timeline_.ops_.end(), ops.begin(), ops.end());
}

void TimelineBuilder::add(std::span<const CallRecord> calls) {
  if (sink_ != nullptr) return sink_->add(calls);
  timeline_.calls_.insert(timeline_.calls_.end(), calls.begin(), calls.end());
}

void TimelineBuilder::note_memory(const MemoryPeak& held) {
  if (held.bytes == 0 || held.bytes > MemoryPeak::kMostBytes) return;
  std::vector<MemoryPeak>& peaks = timeline_.provenance_.memory_peaks;
  const auto key = [](const MemoryPeak& peak) { return std::tuple(peak.device, peak.process, peak.source); };
  const auto at = std::ranges::lower_bound(peaks, key(held), {}, key);
  if (at == peaks.end() || key(*at) != key(held))
    peaks.insert(at, held);
  else
    at->bytes = std::max(at->bytes, held.bytes);
}

void TimelineBuilder::skip(std::string_view reason, std::string_view where) {
  constexpr std::uint64_t kExamplesPerReason = 3;
  std::uint64_t& count = timeline_.provenance_.skipped[std::string{reason}];
  if (++count <= kExamplesPerReason) {
    timeline_.provenance_.skipped_examples.push_back(fmt::format("{}: {}", where, reason));
  }
}

TimelineSummary summarize(const Timeline& timeline) {
  const std::vector<OpRecord>& ops = timeline.ops();
  if (ops.empty()) return summarize_frames(timeline.frames());

  TimelineSummary summary{.frames = timeline.frames().size()};
  std::vector<bool> is_used(timeline.queues().size());
  std::int64_t last = 0, busy_until = ops.front().start_ns;
  for (const OpRecord& op : ops) {
    if (op.kind == OpKind::kKernel) ++summary.kernels;
    if (is_copy(op.kind) || op.kind == OpKind::kMemset) ++summary.memops;
    is_used[op.queue] = true;
    last = std::max(last, op.start_ns + op.duration_ns);
    summary.busy_ns += std::max<std::int64_t>(0, last - std::max(op.start_ns, busy_until));
    busy_until = last;
  }
  summary.streams = static_cast<std::uint64_t>(std::count(is_used.begin(), is_used.end(), true));
  summary.span_ns = last - ops.front().start_ns;
  return summary;
}

}  // namespace corun

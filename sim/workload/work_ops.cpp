#include "sim/workload/work_ops.h"

#include <algorithm>

#include "traces/base/error.h"

namespace corun {

namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  const std::uint64_t x = (seed ^ a ^ (b << 32 | b >> 32)) * 0x9E3779B97F4A7C15ULL;
  return x ^ (x >> 32);
}

}  // namespace

std::size_t WorkOps::Hash::operator()(const WorkOp& op) const {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(op.kind), op.name, op.stream.value);
  hash = mix(mix(hash, op.shape.grid_x, op.shape.grid_y), op.shape.grid_z, op.continues ? 1 : 0);
  hash = mix(mix(hash, op.shape.block_x, op.shape.block_y), op.shape.block_z, op.shape.registers_per_thread);
  hash = mix(mix(hash, op.bytes), op.shape.shared_memory_bytes);
  return mix(mix(hash, static_cast<std::uint64_t>(op.predicted_by_name.count())),
             static_cast<std::uint64_t>(op.predicted_by_shape.count()));
}

WorkOps::WorkOps(std::initializer_list<WorkOp> ops) {
  for (const WorkOp& op : ops) push_back(op);
}

WorkOps::WorkOps(const std::vector<WorkOp>& prototypes, Columns columns) : own_(std::move(columns)) {
  constexpr std::uint32_t kUnused = UINT32_MAX;
  std::vector<std::uint32_t> numbers(prototypes.size(), kUnused);
  const std::size_t count = size();
  bool are_same = true;
  Kinds::Reader next(own_.prototype);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t prototype = next.next();
    if (numbers[prototype] != kUnused) continue;
    numbers[prototype] = number_of(prototypes[prototype]);
    are_same = are_same && numbers[prototype] == prototype;
  }
  if (are_same) return;
  Kinds::Drain given(std::exchange(own_.prototype, {}));
  own_.prototype.reserve(count);
  for (std::size_t i = 0; i < count; ++i) own_.prototype.push_back(numbers[given.next()]);
}

void WorkOps::reserve(std::size_t count) {
  own_.prototype.reserve(count);
  for (Durations* times : {&own_.duration, &own_.dispatch_gap, &own_.launch_latency}) times->reserve(count);
}

void WorkOps::push_back(const WorkOp& op) {
  if (op.awaits_count > 0) await(size(), op.awaits_begin, op.awaits_count);
  WorkOp prototype = op;
  prototype.duration = prototype.dispatch_gap = prototype.launch_latency = Duration{};
  prototype.awaits_begin = prototype.awaits_count = 0;
  own_.prototype.push_back(number_of(prototype));
  own_.duration.push_back(to_ns(op.duration));
  own_.dispatch_gap.push_back(to_ns(op.dispatch_gap));
  own_.launch_latency.push_back(to_ns(op.launch_latency));
}

void WorkOps::await(std::size_t index, std::uint32_t begin, std::uint32_t count) {
  CORUN_ASSERT(waiting_.empty() || waiting_.back().op < index, "operation {} awaits after operation {}", index,
               waiting_.back().op);
  waiting_.push_back({index, begin, count});
}

std::pair<std::uint32_t, std::uint32_t> WorkOps::find_awaits(std::size_t index) const {
  const auto found = std::ranges::lower_bound(waiting_, index, {}, &Awaits::op);
  if (found == waiting_.end() || found->op != index) return {0, 0};
  return {found->begin, found->count};
}

std::uint32_t WorkOps::number_of(const WorkOp& prototype) {
  const auto [entry, is_new] = numbers_.try_emplace(prototype, static_cast<std::uint32_t>(prototypes_.size()));
  if (is_new) prototypes_.push_back(prototype);
  return entry->second;
}

}  // namespace corun

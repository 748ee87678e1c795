#include "sim/workload/work_ops.h"

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

void WorkOps::push_back(const WorkOp& op) {
  Own own{0, 0, op.duration, op.dispatch_gap, op.launch_latency};
  if (op.awaits_count > 0) {
    waiting_.push_back({op.awaits_begin, op.awaits_count});
    own.waiting = static_cast<std::uint32_t>(waiting_.size());
  }
  WorkOp prototype = op;
  prototype.duration = prototype.dispatch_gap = prototype.launch_latency = Duration{};
  prototype.awaits_begin = prototype.awaits_count = 0;
  own.prototype = number_of(prototype);
  own_.push_back(own);
}

std::uint32_t WorkOps::number_of(const WorkOp& prototype) {
  const auto [entry, is_new] = numbers_.try_emplace(prototype, static_cast<std::uint32_t>(prototypes_.size()));
  if (is_new) prototypes_.push_back(prototype);
  return entry->second;
}

}  // namespace corun

#include "sim/executor/surrogates.h"

#include <algorithm>
#include <cmath>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kUsualThreads = 256;
constexpr std::uint32_t kBlocksPerSm = 8;  // of 256 threads: they fill an SM of 2048
constexpr std::uint64_t kMostBlocks = 0x7fffffff;

}  // namespace

CommandKind command_kind(OpKind kind) {
  switch (kind) {
    case OpKind::kCopyHostToDevice:
      return CommandKind::kCopyToDevice;
    case OpKind::kCopyDeviceToHost:
    case OpKind::kCopyPeer:
      return CommandKind::kCopyFromDevice;
    default:
      return CommandKind::kKernel;
  }
}

/// Frames, memsets, copies inside the device and kernels of unknown shape fill the device.
Surrogates::Shape Surrogates::shape_of(const WorkOp& op) const {
  if (is_graphics_) return {1, 1, 0};
  const bool is_known = op.kind == OpKind::kKernel && op.shape.blocks() > 0 && op.shape.threads_per_block() > 0;
  if (!is_known) return {sm_count_ * kBlocksPerSm, kUsualThreads, 0};
  return {static_cast<std::uint32_t>(std::min(op.shape.blocks(), kMostBlocks)),
          std::min(op.shape.threads_per_block(), kMostThreads), op.shape.shared_memory_bytes};
}

Surrogates::Surrogates(const Workload& workload, std::uint32_t sm_count, bool is_graphics)
    : sm_count_(std::max(sm_count, 1U)), is_graphics_(is_graphics) {
  for (const WorkOp& op : workload.ops) {
    if (command_kind(op.kind) != CommandKind::kKernel) continue;
    const Shape shape = shape_of(op);
    if (!index_.try_emplace(shape, laws_.size()).second) continue;
    const auto& [blocks, threads, shared] = shape;
    laws_.push_back({blocks, threads, shared, 0.0, 0.0, 0.0});
  }
  if (laws_.size() > Channel::kMostShapes)
    throw Error(ErrorKind::kUnsupported, fmt::format("{} launch shapes; a run on hardware takes at most {}",
                                                     laws_.size(), Channel::kMostShapes));
}

void Surrogates::describe(Channel& channel) const {
  channel.setup.shapes = static_cast<std::uint32_t>(laws_.size());
  std::ranges::copy(laws_, channel.shapes);
}

void Surrogates::learn(const Channel& channel) {
  std::copy_n(channel.shapes, laws_.size(), laws_.begin());
  for (const ShapeLaw& law : laws_)
    if (!(law.ns_per_iteration > 0))
      throw Error(
          ErrorKind::kDevice,
          fmt::format("a surrogate of {} blocks of {} threads takes no longer for more work", law.blocks, law.threads));
}

Surrogates::Kernel Surrogates::kernel(const WorkOp& op, Duration duration) const {
  const ShapeLaw& law = laws_[index_.at(shape_of(op))];
  const double left_ns = static_cast<double>(to_ns(duration)) - law.fixed_ns;
  return {law.blocks, law.threads, law.shared_bytes,
          static_cast<std::uint64_t>(std::llround(std::max(0.0, left_ns) / law.ns_per_iteration)), left_ns < 0};
}

double Surrogates::worst_error() const {
  double worst = 0;
  for (const ShapeLaw& law : laws_) worst = std::max(worst, law.worst_error);
  return worst;
}

}  // namespace corun::executor

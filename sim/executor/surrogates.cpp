#include "sim/executor/surrogates.h"

#include <algorithm>
#include <cmath>

#include "sim/device/occupancy.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kUsualThreads = 256;
constexpr std::uint32_t kBlocksPerSm = 8;  // of 256 threads: they fill an SM of 2048
constexpr std::uint64_t kMostBlocks = 0x7fffffff;
constexpr double kLeastNsOfBlock = 1.5;
constexpr std::uint32_t kSharedOfSystem = 1024;  // that each block takes in addition to what it asks for

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

std::uint32_t played_blocks(const DeviceSpec& device, const WorkOp& op) {
  std::uint64_t blocks = op.shape.blocks();
  const std::uint64_t at_once = resident_blocks(device, op.shape);
  if (op.predicted_by_shape != kUnknownDuration && at_once > 0) {
    const double most = static_cast<double>(to_ns(op.predicted_by_shape)) / kLeastNsOfBlock;
    while (static_cast<double>(blocks) > most && blocks / 2 >= at_once) blocks /= 2;
  }
  return static_cast<std::uint32_t>(std::min(blocks, kMostBlocks));
}

Workload as_surrogates(Workload workload, const DeviceSpec& device) {
  workload.ops.change([&](WorkOp& op) {
    if (is_device_memory_op(op.kind)) {
      op.kind = OpKind::kKernel;
      op.shape = {};
    }
    if (op.kind != OpKind::kKernel) return;
    const std::uint32_t blocks = played_blocks(device, op);
    if (blocks == op.shape.blocks()) return;
    op.shape.grid_x = blocks;
    op.shape.grid_y = op.shape.grid_z = 1;
  });
  return workload;
}

/// Frames, memsets, copies inside the device and kernels of unknown shape fill the device.
Surrogates::Shape Surrogates::shape_of(const WorkOp& op) const {
  if (is_graphics_) return {1, 1, 0};
  const bool is_known = op.kind == OpKind::kKernel && op.shape.blocks() > 0 && op.shape.threads_per_block() > 0;
  if (!is_known) return {device_.sm_count * kBlocksPerSm, kUsualThreads, 0};
  return {played_blocks(device_, op), std::min(op.shape.threads_per_block(), kMostThreads), shared_bytes_of(op.shape)};
}

std::uint32_t Surrogates::shared_bytes_of(const LaunchShape& shape) const {
  LaunchShape of_few_registers = shape;
  of_few_registers.registers_per_thread = 0;
  const std::uint64_t blocks = resident_blocks(device_, shape) / device_.sm_count;
  if (blocks == 0 || blocks == resident_blocks(device_, of_few_registers) / device_.sm_count)
    return shape.shared_memory_bytes;
  const auto room = static_cast<std::uint32_t>(device_.shared_memory_per_sm_bytes / blocks);
  return std::max(shape.shared_memory_bytes, room - std::min(room, kSharedOfSystem));
}

Surrogates::Surrogates(const Workload& workload, const DeviceSpec& device, bool is_graphics)
    : device_(device), is_graphics_(is_graphics) {
  device_.sm_count = std::max(device.sm_count, 1U);
  for (const WorkOp& op : workload.ops) {
    if (command_kind(op.kind) != CommandKind::kKernel) continue;
    const Shape shape = shape_of(op);
    if (!index_.try_emplace(shape, laws_.size()).second) continue;
    const auto& [blocks, threads, shared] = shape;
    laws_.push_back({.blocks = blocks, .threads = threads, .shared_bytes = shared});
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
  gap_ns_ = channel.gap_ns;
  for (const ShapeLaw& law : laws_)
    if (law.points < 2 || !(law.ns_per_iteration() > 0))
      throw Error(
          ErrorKind::kDevice,
          fmt::format("a surrogate of {} blocks of {} threads takes no longer for more work", law.blocks, law.threads));
}

bool Surrogates::fill_in(Command& command, const WorkOp& op, Duration duration, bool is_queued) {
  const ShapeLaw& law = laws_[index_.at(shape_of(op))];
  const auto recorded_ns = static_cast<double>(to_ns(duration));
  command.blocks = law.blocks;
  command.threads = law.threads;
  command.shared_bytes = law.shared_bytes;
  const bool follows_a_gap = is_queued && !is_graphics_;
  command.iterations = law.iterations_in(follows_a_gap ? after_gap_ns(op, law, recorded_ns) : recorded_ns);
  if (!is_queued) behind_ns_[op.stream.value] = 0;
  command.iterations_per_load = law.iterations_per_load;
  return law.shortest_ns() <= recorded_ns;
}

double Surrogates::after_gap_ns(const WorkOp& op, const ShapeLaw& law, double recorded_ns) {
  double& behind_ns = behind_ns_[op.stream.value];
  const double wanted_ns = recorded_ns - (gap_ns_ - static_cast<double>(to_ns(op.dispatch_gap)) + behind_ns);
  behind_ns = std::max(0.0, law.shortest_ns() - wanted_ns);
  most_behind_ns_ = std::max(most_behind_ns_, behind_ns);
  return wanted_ns;
}

double Surrogates::worst_error() const {
  double worst = 0;
  for (const ShapeLaw& law : laws_) worst = std::max(worst, law.worst_error);
  return worst;
}

}  // namespace corun::executor

#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "sim/device/spec.h"
#include "sim/executor/worker/channel.h"
#include "sim/workload/workload.h"

namespace corun::executor {

/// The command that plays an operation: copies between host and device are copies, one to another device goes to the
/// host; all else is a kernel, copies inside the device included.
CommandKind command_kind(OpKind kind);

/// Blocks of the surrogate of a captured kernel: the captured count, halved until each block has 1.5 ns of the kernel's
/// time, but no fewer than the device holds at once; 2^31 - 1 at most. Surrogates start blocks more slowly than
/// captured kernels do, since their blocks count themselves.
std::uint32_t played_blocks(const DeviceSpec& device, const WorkOp& op);

/// The workload as the executor plays it: kernels have played_blocks(), memsets and copies inside the device are
/// kernels that fill it.
Workload as_surrogates(Workload workload, const DeviceSpec& device);

/// The launch shapes of a workload, and what to ask of a kernel of one of them so that it takes a given time.
///
/// A surrogate has the captured kernel's blocks, threads and shared memory, and registers of its own. Where the
/// captured registers let fewer blocks onto an SM, more shared memory does so in their place, since it decides which
/// kernels share an SM.
class Surrogates {
 public:
  /// Throws Error(kUnsupported) where a workload has more shapes than a channel holds.
  /// `is_graphics`: its operations are rendered, and all have one shape.
  Surrogates(const Workload& workload, const DeviceSpec& device, bool is_graphics);

  /// Sends a worker what it is to measure.
  void describe(Channel& channel) const;
  /// Takes what it measured.
  void learn(const Channel& channel);

  /// Makes the command a kernel that takes this long; false where even one without work takes longer.
  ///
  /// `is_queued`: its stream has work before it. Then it is to end when it would have ended after its recorded gap: by
  /// what this device's gap between surrogates takes more than that it is shorter, by what it takes less, longer. What
  /// queued ones cannot be shorter is taken off those behind them in their stream. Visits are left as they are.
  bool fill_in(Command& command, const WorkOp& op, Duration duration, bool is_queued);
  double worst_error() const;
  /// Channel::gap_ns.
  double gap_ns() const { return gap_ns_; }
  /// The most by which a queued kernel was to end too late so far, for want of kernels that could be shorter.
  double most_behind_ns() const { return most_behind_ns_; }
  const std::vector<ShapeLaw>& laws() const { return laws_; }

 private:
  using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< blocks, threads, shared bytes
  Shape shape_of(const WorkOp& op) const;
  std::uint32_t shared_bytes_of(const LaunchShape& shape) const;
  /// What a queued kernel is to take, so that its stream keeps the recorded pace.
  double after_gap_ns(const WorkOp& op, const ShapeLaw& law, double recorded_ns);

  DeviceSpec device_;
  bool is_graphics_;
  std::map<Shape, std::size_t> index_;
  std::vector<ShapeLaw> laws_;
  double gap_ns_ = 0.0;
  std::array<double, kMostStreams> behind_ns_{};  ///< by stream: by so much its queue is to end too late
  double most_behind_ns_ = 0.0;
};

}  // namespace corun::executor

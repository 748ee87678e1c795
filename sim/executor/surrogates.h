#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/executor/channel.h"
#include "sim/workload/workload.h"

namespace corun::executor {

/// What an operation is on hardware: a copy between host and device is one, one to another device goes to the host; all
/// else is a kernel, copies inside the device included.
CommandKind command_kind(OpKind kind);

/// The launch shapes of a workload, and what to ask of a kernel of one of them so that it takes a given time.
class Surrogates {
 public:
  /// Throws Error(kUnsupported) where a workload has more shapes than a channel holds.
  /// `is_graphics`: its operations are rendered, and all have one shape.
  Surrogates(const Workload& workload, std::uint32_t sm_count, bool is_graphics);

  /// Tells a worker what it is to measure.
  void describe(Channel& channel) const;
  /// Takes what it measured.
  void learn(const Channel& channel);

  struct Kernel {
    std::uint32_t blocks = 1, threads = 1, shared_bytes = 0;
    std::uint64_t iterations = 0;
    bool is_too_short = false;  ///< even no work at all takes longer
  };
  Kernel kernel(const WorkOp& op, Duration duration) const;
  double worst_error() const;

 private:
  using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< blocks, threads, shared bytes
  Shape shape_of(const WorkOp& op) const;

  std::uint32_t sm_count_;
  bool is_graphics_;
  std::map<Shape, std::size_t> index_;
  std::vector<ShapeLaw> laws_;
};

}  // namespace corun::executor

#pragma once

#include <cstdint>

#include "tracer/gate/channel/channel.h"
#include "tracer/gate/driver/driver_calls.h"

/// What the arguments of the driver's functions say. Functions go by CUPTI's numbers (driver_calls.h).
namespace corun::gate {

/// A call of the driver that a program makes.
struct Call {
  std::uint32_t function;  ///< CUPTI's number
  const void* parameters;  ///< the arguments as CUPTI lays them out: one after the other, each aligned as it is
  const char* symbol;      ///< of the kernel that is launched; nullptr: none, or not known
  void* context;           ///< of the calling thread
};

CallRole role_of(std::uint32_t function);

/// Launches of kernels that take their shape as numbers.
struct KernelParameters {
  const void* function;
  std::uint32_t grid[3], block[3], shared_bytes;
  void* stream;
};
/// The arguments as CUPTI lays them out, of those that a function takes one a machine word. `kernel` is room for them
/// where that makes a difference.
const void* lay_out(std::uint32_t function, const std::uint64_t* words, KernelParameters& kernel);

/// The handle of the kernel that this function launches; nullptr: it launches none, or none alone.
const void* launched_kernel(std::uint32_t function, const void* parameters);

/// Whether the driver refuses a launch whatever else holds: one of no kernel or no graph, without its configuration, or
/// of nothing. The arguments of others can be read.
bool is_refused(std::uint32_t function, const void* parameters);

/// A call that gives the device work, as far as its arguments are understood. Precondition: not is_refused().
struct LaunchCall {
  LaunchKind kind = LaunchKind::kCopy;
  void* stream = nullptr;       ///< of the program; the default streams as their handles
  bool has_stream = false;      ///< false: it is complete, or as good as complete, when the call returns
  const void* graph = nullptr;  ///< kGraph: that is launched
  std::uint64_t blocks = 0, bytes = 0;
  std::uint32_t threads = 0, shared_bytes = 0;
};
LaunchCall read_launch(std::uint32_t function, const void* parameters);

/// The first handle among the arguments of a function that destroys one, or captures a stream.
const void* first_handle(const void* parameters);

/// The first argument of a function that takes a device.
int first_number(const void* parameters);

/// kMakeGraph: where the handle that is made will be, and the graph that it is made of.
struct MadeGraph {
  const void* const* made;
  void* graph;
};
MadeGraph read_made_graph(const void* parameters);

}  // namespace corun::gate

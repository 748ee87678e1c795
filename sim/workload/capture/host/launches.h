#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/compact_capture.h"

namespace corun {

/// Instants (ns of the capture, ascending) of the driver's calls that launched kernels or graphs, as an untraced pass
/// counts them: every call that a kernel came from, every launch of a graph whatever is in it, and kernels whose call
/// was cut off, at their start. Copies, memsets and graphics do not count.
Instants launch_instants(const CompactCapture& capture);

/// How operations came to the device.
struct GraphPlaces {
  std::vector<bool> is_first;  ///< by operation: begins the launch of a graph. Empty: there are no graphs
  /// By operation: came with a launch of a graph that an earlier operation begins, or that was before the capture.
  std::vector<bool> is_within;
};
GraphPlaces graph_places(const CompactCapture& capture);

/// Index of the first instant that is not before `ns`; how many there are if all are.
std::size_t first_from(const Instants& instants, std::int64_t ns);

/// Launches per second from the first to the last of instants [begin, end); 0 for fewer than two, or all at one
/// instant.
double launches_per_s(const Instants& instants, std::size_t begin, std::size_t end);

}  // namespace corun

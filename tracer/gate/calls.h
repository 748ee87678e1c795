#pragma once

#include <cstdint>

#include "tracer/gate/channel/channel.h"

/// What the driver's functions do, by CUPTI's numbers of them, and what their arguments say.
namespace corun::gate {

/// A call of the driver that a program makes.
struct Call {
  std::uint32_t function;  ///< CUPTI's number
  const void* parameters;  ///< the arguments as CUPTI lays them out: one after the other, each aligned as it is
  const char* symbol;      ///< of the kernel that is launched; nullptr: none, or not known
  void* context;           ///< of the calling thread
};

enum class CallRole : std::uint8_t {
  kOther,
  kLaunch,        ///< gives the device work
  kSynchronise,   ///< waits for the device
  kBeginCapture,  ///< from here on, what a stream is given becomes a graph
  kEndCapture,
  kMakeGraph,  ///< makes a graph that can be launched
  kDestroyGraph,
  kDestroyStream,
  kDestroyContext,
  kReleaseContext,  ///< a primary one, once: others may hold it
  kResetContext,    ///< a primary one, whoever holds it
};

/// Every function that is looked at, as ranges of numbers. NVIDIA never gives a number to another function.
struct CallRange {
  std::uint32_t first, last;
  CallRole role;
};
inline constexpr CallRange kCalls[] = {
    {11, 11, CallRole::kDestroyContext},  // cuCtxDestroy
    {17, 17, CallRole::kSynchronise},     // cuCtxSynchronize
    {60, 69, CallRole::kLaunch},          // copies
    {71, 82, CallRole::kLaunch},          // memsets
    {115, 117, CallRole::kLaunch},        // cuLaunch, cuLaunchGrid
    {121, 121, CallRole::kSynchronise},   // cuEventSynchronize
    {126, 126, CallRole::kSynchronise},   // cuStreamSynchronize
    {127, 127, CallRole::kDestroyStream},  {216, 227, CallRole::kLaunch},
    {248, 254, CallRole::kLaunch},         {276, 293, CallRole::kLaunch},
    {305, 306, CallRole::kLaunch},         {307, 307, CallRole::kLaunch},  // cuLaunchKernel
    {318, 321, CallRole::kLaunch},         {322, 322, CallRole::kDestroyContext},
    {326, 326, CallRole::kDestroyStream},  {387, 387, CallRole::kReleaseContext},  // cuDevicePrimaryCtxRelease
    {389, 389, CallRole::kResetContext}, {397, 416, CallRole::kLaunch},
    {418, 433, CallRole::kLaunch},         {440, 440, CallRole::kSynchronise},
    {442, 442, CallRole::kLaunch},         {477, 478, CallRole::kLaunch},  // cuLaunchCooperativeKernel
    {480, 480, CallRole::kLaunch},         {495, 496, CallRole::kBeginCapture},
    {497, 498, CallRole::kEndCapture},     {513, 513, CallRole::kMakeGraph},
    {514, 515, CallRole::kLaunch},  // cuGraphLaunch
    {516, 516, CallRole::kDestroyGraph},   {539, 540, CallRole::kBeginCapture},
    {544, 544, CallRole::kReleaseContext}, {545, 545, CallRole::kResetContext}, {578, 578, CallRole::kMakeGraph},
    {643, 643, CallRole::kMakeGraph},      {652, 653, CallRole::kLaunch},  // cuLaunchKernelEx
    {656, 657, CallRole::kMakeGraph},      {720, 721, CallRole::kBeginCapture},
    {776, 779, CallRole::kLaunch},         {796, 799, CallRole::kLaunch},
    {800, 800, CallRole::kSynchronise},    {837, 840, CallRole::kLaunch},
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

/// A call that gives the device work, as far as its arguments are understood.
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

/// The first argument of a function that is told a device.
int first_number(const void* parameters);

/// kMakeGraph: where the handle that is made will be, and the graph that it is made of.
struct MadeGraph {
  const void* const* made;
  void* graph;
};
MadeGraph read_made_graph(const void* parameters);

}  // namespace corun::gate

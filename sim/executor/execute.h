#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/run.h"

namespace corun::executor {

class MpsDaemon;

/// How a run uses the hardware.
struct ExecuteOptions {
  std::string worker;                    ///< program that a client's process runs: corun-worker
  std::string library = "libcuda.so.1";  ///< the CUDA driver
  int device = 0;                        ///< its number for the driver
  bool renders = true;                   ///< frames by OpenGL; else by kernels that fill the device
  /// Pixels of a frame. Few, since the time to fill them is the shortest visit that a frame can have.
  std::uint32_t width = 480, height = 270;
  const MpsDaemon* mps = nullptr;  ///< to which all contexts shall belong; nullptr = as the environment says
  double traffic = 0.0;            ///< part of the memory's bandwidth that each kernel is to draw, [0, 1]
  /// Processors to pin to: the scheduler's, then one for each client; kAnyProcessor, and a client without one: not
  /// pinned. Empty = each thread to one of its own, where the machine has enough.
  std::vector<int> processors{};
  Duration start_patience = std::chrono::seconds{120};
  Duration stall_patience = std::chrono::seconds{30};  ///< a client whose operations do not end for longer ends the run
};

/// How late something came, over a run.
struct Lateness {
  Duration p50{}, p99{}, worst{};
};

/// What a run on hardware says about its own accuracy.
struct ExecuteReport {
  std::string device_name;
  Lateness timers;                     ///< behind the instants at which hosts were to go on or the policy to wake up
  Lateness launches;                   ///< from the gate until the driver's launch call returned; a full ring included
  double worst_surrogate_error = 0.0;  ///< of the surrogates' laws, relative, where they were measured
  std::uint64_t too_short = 0;         ///< operations asked to be shorter than their launch shape can be
  Duration surrogate_gap{};            ///< from the end of one to the start of the next in its stream, at most
  Duration most_behind{};              ///< by which a queue of them was to end too late for that gap
  Duration clock_error{};              ///< by which the device's clock was known at the beginning
  std::vector<std::string> notes;      ///< what is not as in the simulation, one sentence each
};

/// Runs the input on a GPU under the same policy, arbiter and clients as simulate(): what differs is what is behind the
/// gates. Each client is a process with a context of its own; its kernels are surrogates of the recorded shape and
/// duration, its copies real ones, its host gaps those of the workload. One thread schedules: it looks at the clock, at
/// the stamps that operations leave, and asks the policy, without ever sleeping.
///
/// A client of frames renders them with OpenGL, one draw a visit. One that also has other work on the device, or all
/// without `renders`, have their visits done by kernels that fill the device, which a GPU arbitrates otherwise.
/// Clients hold their allocated memory from before the run until they leave; working sets are not paged, so prefetching
/// is ignored. A snapshot copies a client's memory to the host; a kill ends its process, and what was in flight is
/// lost; a new process copies the snapshot back. Priorities and, under MPS, caps of SMs are set. Time slices, SMs of
/// one's own and device instances cannot be: a policy that asks for one ends the run with Error(kUnsupported), as does
/// a cap without MPS. Error(kUnsupported) also where there is no GPU; Error(kDevice) where it or a worker fails or does
/// not answer. No setting of the device is changed, and no process is left behind.
RunResult execute(const RunInput& input, Recorder& recorder, const ExecuteOptions& options, ExecuteReport& report);

}  // namespace corun::executor

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/run/run.h"

namespace corun::live {

class LiveMetrics;

/// How a live run starts and gates its clients.
struct LiveOptions {
  std::string gate_library = {};        ///< libcorun_gate.so
  bool is_gated_by_cupti = false;       ///< not by a preload, with CUPTI where a program's driver is called past it
  std::string frame_library = {};       ///< libcorun_gl.so, preloaded into interactive clients; "" = none
  std::string layer_data = {};          ///< data folder with the manifest of the Vulkan layer, for these; "" = none
  std::uint32_t most_in_flight = 1024;  ///< launches of a client not known to be complete; 0 = no bound
  Duration most_queued = std::chrono::milliseconds{30};  ///< device time of those, as launches took lately; 0 = none
  /// Most managed memory of all clients together, of which each has an equal part, where the policy makes memory
  /// managed; 0 = it stays as it is. More than a device has free can bring it to a stand, whatever it serves.
  std::uint64_t managed_memory = 0;
  std::string control = {};  ///< path of a socket at which the run can be asked and adjusted; "" = none
  std::shared_ptr<LiveMetrics> metrics = {};        ///< where operators read how the run is going; nullptr = nowhere
  std::uint32_t every = 16;                         ///< launches of a stream between two looks at what is complete
  const std::atomic<bool>* stop = nullptr;          ///< set to end the run before its horizon
  const std::atomic<bool>* hurry = nullptr;         ///< set where programs are to be killed without patience
  Duration end_patience = std::chrono::seconds{5};  ///< between asking a program to end and killing it
};

/// What a live run says about its own accuracy.
struct LiveReport {
  std::uint64_t launches = 0;
  std::uint64_t slipped = 0;          ///< launched through a gate that was being closed
  std::uint64_t unobserved = 0;       ///< whose end was not seen
  std::uint64_t let_through = 0;      ///< beyond the bound, since nothing ended for long
  std::uint64_t captured = 0;         ///< into graphs, ungated
  Duration heard_p50{}, heard_p99{};  ///< from a launch at an open gate to the scheduler's hearing of it
  std::vector<std::string> notes;     ///< what there is to know of each client, one sentence each
};

/// Starts the command of every client and holds its launches at a gate in its own process, under the same policies and
/// arbiter as simulate() and execute().
///
/// Device time is known per group of LiveOptions::every launches of a stream and shared out as the profile says.
/// Graphics work is not gated: frames are heard. A client leaves when its command has ended; at the horizon, those that
/// run are asked to end, and later killed; so is one that the policy refuses, at once. A job is a frame; for a client
/// whose workload (its profile) has jobs, as many launches as one of those; else one launch. A kill ends a client's
/// processes and starts its command again, where that is restartable; a snapshot is its program's to take
/// (SnapshotFile). Kills of others, shadow frames, prefetching and settings of the driver end the run with
/// Error(kUnsupported). Throws Error(kInput) where a command cannot be started.
RunResult run_live(const RunInput& input, Recorder& recorder, const LiveOptions& options, LiveReport& report);

}  // namespace corun::live

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/run/execution_backend.h"
#include "traces/base/time.h"

namespace corun {

/// How the commands of clients are started and gated.
struct ProgramOptions {
  std::string gate;                ///< libcorun_gate.so; "" = that of this program
  bool is_gated_by_cupti = false;  ///< not by a preload
  std::string frames;              ///< libcorun_gl.so; "" = that of this program, where it was built
  unsigned most_in_flight = 1024;
  Duration most_queued{30'000'000};
  std::uint64_t managed_memory = 0;  ///< bytes for all clients together; 0 = memory stays as it is
  unsigned every = 16;
  std::string control;                         ///< path of a socket; "" = none
  std::shared_ptr<live::LiveMetrics> metrics;  ///< where operators read how runs are going; nullptr = nowhere
  std::string captures;                        ///< folder for captures of the runs; "" = none
};

/// Where the clients' commands run. Throws Error(kUnsupported) where the library that gates them is missing.
ExecutionBackend backend_of_programs(const ProgramOptions& options);

}  // namespace corun

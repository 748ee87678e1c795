#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/executor/execute.h"
#include "sim/live/live.h"
#include "sim/run.h"

namespace corun {

/// Where runs take place: facts go to the recorder, what there is to say about the run to `notes`, a sentence each.
struct World {
  std::string backend;  ///< name in results: "simulation", "gpu"
  std::function<RunResult(const RunInput&, Recorder&, std::vector<std::string>& notes)> run;
};

inline constexpr char kLiveBackend[] = "live";

World simulated_world();

/// What hardware_world() does, simulated: its surrogates are not in all things like the programs that they stand for.
/// Any number of threads.
World surrogate_world();

/// On a GPU, whose driver must be there: throws Error(kUnsupported) where it is not. One run at a time.
World hardware_world(const executor::ExecuteOptions& options);

/// The commands of the clients, as programs that share the GPU. One run at a time. With a folder `captures`, each run
/// leaves a capture of itself there: N-POLICY.corun, by number from 1; Error(kInput) where that is there already.
World live_world(const live::LiveOptions& options, const std::string& captures = "");

}  // namespace corun

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "sim/executor/execute.h"
#include "sim/live/live.h"
#include "sim/run/run.h"

namespace corun {

/// Where runs take place: facts go to the recorder, what there is to say about the run to `notes`, a sentence each.
struct ExecutionBackend {
  std::string name;  ///< in results: "simulation", "gpu"
  std::function<RunResult(const RunInput&, Recorder&, std::vector<std::string>& notes)> run;
};

inline constexpr char kLiveBackend[] = "live";

/// Makes a scenario one of that backend. Throws Error(kUnsupported) where it cannot take place there: a cluster outside
/// the simulation, a client without a command in a live run, a client with a command alone elsewhere. Throws
/// Error(kInput) where the program of a live run is missing.
void put_in(const ExecutionBackend& backend, Scenario& scenario);

ExecutionBackend simulation_backend();

/// What hardware_backend() does, simulated: its surrogates are not in all things like the programs that they stand for.
/// Any number of threads.
ExecutionBackend surrogate_backend();

/// On a GPU, whose driver must be there: throws Error(kUnsupported) where it is not. One run at a time.
ExecutionBackend hardware_backend(const executor::ExecuteOptions& options);

/// The commands of the clients, as programs that share the GPU. One run at a time. With a folder `captures`, each run
/// leaves a capture of itself there: N-POLICY.corun, by number from 1; Error(kInput) where that is there already.
ExecutionBackend live_backend(const live::LiveOptions& options, const std::string& captures = "");

}  // namespace corun

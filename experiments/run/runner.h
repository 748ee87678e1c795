#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/plan.h"
#include "experiments/run/run_inputs.h"

namespace corun {

/// An operation as kept where `record: { operations: all }`.
struct OperationRow {
  OpFact fact;  ///< its own `name` is empty
  std::string name;
};

/// The error of a run that there was no memory for. Of all errors of simulated runs it alone is the machine's, so a run
/// that has it is done again when its results are resumed.
inline constexpr char kOutOfMemory[] = "out of memory";

/// What became of one run.
struct RunOutcome {
  std::vector<Metric> metrics;
  std::vector<FrameFact> frames;
  std::vector<DecisionFact> decisions;
  std::vector<OperationRow> operations;
  std::vector<HoldFact> holds;  ///< as many as decisions are kept
  Time holds_until = kNever;    ///< start of the first hold that was not kept
  std::vector<RefusalFact> refusals;
  std::vector<KillFact> kills;
  std::vector<PodFact> pods;  ///< of a cluster
  std::vector<RequestFact> requests;
  std::vector<std::string> readers;  ///< names of the run's clients behind the scenario's: loops of divided servers
  std::uint64_t events = 0;
  double wall_time_s = 0.0;  ///< the one figure here that differs from time to time
  std::string notes;         ///< what was assumed, a line each
  std::optional<Error> error;
  bool is_interrupted = false;  ///< nothing of it counts: it was ended by what RunInputs::interrupt_by() names
};

struct RunnerOptions {
  unsigned jobs = 1;  ///< worker threads
  /// True ends it early: no run begins, simulations under way are dropped, other runs are finished.
  const std::atomic<bool>* stop = nullptr;
  /// Called from one thread at a time whenever a run has finished, in any order.
  std::function<void(const RunSpec&, const RunOutcome&)> on_finished{};
  std::optional<ExecutionBackend> backend{};  ///< where runs take place, in place of that of `run_inputs`
  /// Called by the thread of each run as it begins.
  std::function<void(const RunSpec&)> on_started{};
};

/// Does one run. Never throws for what is wrong with the run: that is part of the outcome.
RunOutcome run_one(const Experiment& experiment, const RunSpec& spec, RunInputs& run_inputs,
                   const PolicyRegistry& policies);
/// The same in `backend`, in place of that of `run_inputs`.
RunOutcome run_one(const Experiment& experiment, const RunSpec& spec, RunInputs& run_inputs,
                   const PolicyRegistry& policies, const ExecutionBackend& backend);

/// Does all runs of a plan over a pool of threads, one run a thread, and hands the outcomes to `deliver` in the order
/// of the plan, whatever the number of threads. Returns how many were delivered: less than all only after a stop.
/// `deliver` is called by the calling thread; what it throws ends the runner.
std::size_t run_plan(const Experiment& experiment, const Plan& plan, RunInputs& run_inputs,
                     const PolicyRegistry& policies, const RunnerOptions& options,
                     const std::function<void(const RunSpec&, const RunOutcome&)>& deliver);

}  // namespace corun

#pragma once

#include <optional>
#include <string>

#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/results/stored_plan.h"
#include "experiments/run/execution_backend.h"

namespace corun {

/// Which runs of an experiment to do, and how.
struct RunOptions {
  ExperimentOptions experiment;
  ResultsOptions results;
  unsigned jobs = 0;              ///< runs at a time; 0 = one per processor
  bool resumes = false;           ///< continues a results file that is not complete
  std::optional<Shard> shard{};   ///< the part of the plan to do; none = all of it
  bool skips_baselines = false;   ///< no client runs alone first: no slowdown, no harvest
  bool has_slower_hosts = false;  ///< simulates what may hang on hosts in company with slower ones, too
  bool can_resume = false;        ///< with the same command line and `--resume`
  std::string announcement{};     ///< a line that follows the heading on standard error; "" = none
};

/// The options of commands that simulate: any number of runs at a time, and the rest later.
void add_run_options(Command& command, RunOptions& options);

/// Reads an experiment, runs it in a backend, writes its results and prints them. The first interrupt stops it: see
/// interrupts.h. Returns the exit code: 0, kExitExpectation, kExitSomeFailed, that of the errors where all runs failed
/// alike, or kExitSignal plus the signal. Throws Error where nothing can be run.
int run_experiment(const ExecutionBackend& backend, const CommonOptions& common, const RunOptions& options);

}  // namespace corun

#pragma once

#include <optional>
#include <string>

#include "experiments/commands/command_line.h"
#include "experiments/question/experiment.h"
#include "experiments/summary/progress.h"

namespace corun {

/// Options that several commands share, and the functions that add them.

struct ExperimentOptions {
  std::string file;
  std::optional<std::string> text{};  ///< what the file would hold; none = it is read
  ExperimentOverrides overrides;
};
void add_experiment_options(Command& command, ExperimentOptions& options);
/// The same without the file.
void add_override_options(Command& command, ExperimentOptions& options);
/// `--list`, of commands that expand sweeps.
void add_sweep_option(Command& command, ExperimentOptions& options);

struct ResultsOptions {
  std::string output;  ///< "" = as the experiment says
  bool overwrite = false;
  ProgressStyle progress = ProgressStyle::kAuto;
};
void add_results_options(Command& command, ResultsOptions& options);

}  // namespace corun

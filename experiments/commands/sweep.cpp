#include "experiments/commands/commands.h"
#include "experiments/run/execution_backend.h"

namespace corun {

int sweep_command(const CommonOptions& common, RunOptions options) {
  options.overrides.expands_sweep = true;
  return run_in(simulation_backend(), common, options);
}

}  // namespace corun

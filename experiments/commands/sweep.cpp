#include "experiments/commands/commands.h"
#include "experiments/world.h"

namespace corun {

int sweep_command(const CommonOptions& common, RunOptions options) {
  options.overrides.expands_sweep = true;
  return run_in(simulated_world(), common, options);
}

}  // namespace corun

#include <optional>

#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_run.h"
#include "experiments/commands/hardware/hardware_options.h"
#include "sim/executor/host/mps_daemon.h"

namespace corun {

namespace {

struct ExecuteCommandOptions {
  RunOptions run;
  HardwareOptions hardware;
  bool under_mps = false;  ///< with a daemon of its own
  double traffic = 0.0;    ///< part of the memory's bandwidth that kernels draw
};

int execute_command(const CommonOptions& common, const ExecuteCommandOptions& options) {
  executor::ExecuteOptions hardware = execute_options(options.hardware);
  hardware.traffic = options.traffic;
  std::optional<executor::MpsDaemon> daemon;
  if (options.under_mps) hardware.mps = &daemon.emplace();
  return run_experiment(hardware_backend(hardware), common, options.run);
}

}  // namespace

void add_execute(Commands& commands) {
  auto [command, options] =
      commands.add("execute", "Run an experiment on a GPU, one run at a time, in real time", &execute_command);
  options.run.jobs = 1;
  add_experiment_options(command, options.run.experiment);
  add_results_options(command, options.run.results);
  add_hardware_options(command, options.hardware);
  add_kernel_frames_option(command, options.hardware);
  command.flag("--mps", &options.under_mps, "Under an MPS daemon of its own: contexts share the device at once");
  command.option("--traffic", &options.traffic, "Part of the memory's bandwidth that each kernel draws")
      .range(0.0, 1.0);
}

}  // namespace corun

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_run.h"
#include "experiments/commands/hardware/programs.h"
#include "experiments/run/plan.h"
#include "sim/live/metrics/live_metrics.h"
#include "traces/base/units.h"

namespace corun {

namespace {

struct LiveCommandOptions {
  RunOptions run;
  ProgramOptions programs;
  bool runs_alone_first = false;
  std::optional<live::ListenAddress> metrics;
};

int live_command(const CommonOptions& common, const LiveCommandOptions& options) {
  RunOptions run = options.run;
  run.skips_baselines = !options.runs_alone_first;
  ProgramOptions programs = options.programs;
  if (options.metrics) {
    programs.metrics = std::make_shared<live::LiveMetrics>(*options.metrics, std::string(engine_version()));
    run.announcement = fmt::format("metrics: {}\n", programs.metrics->url());
  }
  return run_experiment(backend_of_programs(programs), common, run);
}

void add_program_options(Command& command, ProgramOptions& options) {
  command.option("--in-flight", &options.most_in_flight, "Bound on launches in flight per client; 0 = no bound")
      .range(0, 4096)
      .shows_default("1024");
  command
      .duration("--queued", &options.most_queued, Duration{0}, "30ms",
                "Bound on queued device time per client (estimated); 0s = no bound")
      .shows_default("30ms");
  command.parsed(
      "--managed-memory",
      [&options](const std::string& text) {
        const auto bytes = parse_bytes(text);
        if (!bytes || *bytes == 0) reject_value("--managed-memory", "a size is expected, like 20GiB");
        options.managed_memory = *bytes;
      },
      "Make allocations managed memory where the policy does, all clients together at most SIZE");
  command.option("--every", &options.every, "Launches of a stream between two checks for completion")
      .range(1, 64)
      .shows_default("16");
  command.option("--captures", &options.captures, "Folder for a capture of each run");
  command.option("--control", &options.control, "Socket at which `simcli control` asks and adjusts the run")
      .shows_value("SOCKET");
  command.option("--gate", &options.gate, "Library for CUDA programs; libcorun_gate.so if not given");
  command.choice<bool>("--gate-by", &options.is_gated_by_cupti, {{"preload", false}, {"cupti", true}},
                       "How launches come to the gate: preload, or cupti only");
  command.option("--frames", &options.frames, "Library for programs with frames; libcorun_gl.so if not given");
}

void add_metrics_option(Command& command, std::optional<live::ListenAddress>& address) {
  command
      .parsed(
          "--metrics",
          [&address](const std::string& text) {
            address = live::ListenAddress::parse(text);
            if (!address) reject_value("--metrics", "an address and a port are expected, like :9400 or 10.0.0.1:9400");
          },
          "Serve figures of the run to Prometheus; at 127.0.0.1 if there is no ADDRESS, port 0 = any free one")
      .shows_value("[ADDRESS]:PORT");
}

}  // namespace

void add_live(Commands& commands) {
  auto [command, options] =
      commands.add("live", "Run the programs of an experiment, gated in their own processes", &live_command);
  options.run.jobs = 1;
  add_experiment_options(command, options.run.experiment);
  add_results_options(command, options.run.results);
  command.flag("--alone", &options.runs_alone_first, "Run every client alone first: for slowdown and harvest");
  add_program_options(command, options.programs);
  add_metrics_option(command, options.metrics);
}

}  // namespace corun

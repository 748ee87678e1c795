#include "sim/executor/execute.h"

#include <fmt/ranges.h>

#include "sim/executor/gpu_run.h"
#include "sim/executor/hardware_limits.h"
#include "sim/executor/host/processors.h"

namespace corun::executor {

namespace {

/// As asked for, else one for each that spins.
std::vector<int> processors_for(const RunInput& input, const ExecuteOptions& options, ExecuteReport& report) {
  if (!options.processors.empty()) return options.processors;
  const std::size_t count = 1 + input.clients.size();
  const std::vector<int> chosen = choose_processors(count);
  report.notes.push_back(
      chosen.empty()
          ? fmt::format(
                "not pinned: the scheduler and its workers spin, and this machine has no {} processors for them", count)
          : fmt::format("pinned to processors {}: the scheduler's, then one for each client", fmt::join(chosen, ", ")));
  return chosen;
}

}  // namespace

RunResult execute(const RunInput& input, Recorder& recorder, const ExecuteOptions& options, ExecuteReport& report) {
  refuse_what_hardware_lacks(input);
  report = ExecuteReport{};
  const std::vector<int> processors = processors_for(input, options, report);
  GpuRun run(input, recorder, options, processors);
  RunResult result = run.run();
  run.tell(report);
  return result;
}

}  // namespace corun::executor

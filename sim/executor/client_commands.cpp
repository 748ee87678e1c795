#include "sim/executor/client_commands.h"

#include <algorithm>

#include "sim/executor/hardware_limits.h"
#include "sim/executor/surrogates.h"
#include "sim/run/client_views.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

/// Copies of unknown size move one byte.
std::uint64_t bytes_of(const WorkOp& op) { return std::max<std::uint64_t>(op.bytes, 1); }

/// Of a stream, it is enough to wait for the newest.
void await_other_streams(Command& command, const Workload& workload, const Submission& submission) {
  const auto [begin, count] = workload.ops.awaits_of(submission.index);
  for (std::uint32_t i = begin; i < begin + count; ++i) {
    const std::uint32_t awaited = workload.awaits[i];
    std::uint64_t& newest = command.awaits[workload.ops[awaited].stream.value];
    newest = std::max(newest, command.number - (submission.index - awaited) + 1);
  }
}

}  // namespace

WorkerSetup setup_of(const ClientSpec& spec, const ExecuteOptions& options, std::uint32_t streams) {
  if (streams > kMostStreams)
    throw Error(ErrorKind::kUnsupported, fmt::format("client '{}' has {} streams; a run on hardware takes at most {}",
                                                     spec.name, streams, kMostStreams));
  WorkerSetup setup;
  set_text(setup.library, options.library);
  setup.device = options.device;
  setup.is_graphics = options.renders && only_renders(*spec.workload);
  setup.width = options.width;
  setup.height = options.height;
  setup.traffic = options.traffic;
  setup.streams = streams;
  setup.snapshot_bytes = snapshot_bytes(spec);
  setup.memory_bytes = std::max(allocated_bytes(spec), setup.snapshot_bytes);
  for (const WorkOp& op : spec.workload->ops)
    if (command_kind(op.kind) != CommandKind::kKernel) setup.largest_copy = std::max(setup.largest_copy, bytes_of(op));
  return setup;
}

Command command_for(const Submission& submission, const Workload& workload, bool is_graphics) {
  const WorkOp& op = *submission.shared;
  Command command;
  command.kind = is_graphics ? CommandKind::kRender : command_kind(op.kind);
  command.number = submission.number;
  command.stream = op.stream.value;
  command.bytes = bytes_of(op);
  await_other_streams(command, workload, submission);
  return command;
}

}  // namespace corun::executor

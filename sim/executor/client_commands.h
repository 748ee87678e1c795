#pragma once

#include "sim/executor/execute.h"
#include "sim/executor/worker/channel.h"
#include "sim/workload/client.h"

namespace corun::executor {

/// What a client's worker is to be. Throws Error(kUnsupported) where it has more streams than a channel.
WorkerSetup setup_of(const ClientSpec& spec, const ExecuteOptions& options, std::uint32_t streams);

/// A submission as a command for its worker, but for what a kernel has to do.
Command command_for(const Submission& submission, const Workload& workload, bool is_graphics);

}  // namespace corun::executor

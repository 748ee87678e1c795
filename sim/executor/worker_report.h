#pragma once

#include <memory>
#include <vector>

#include "sim/executor/client_worker.h"
#include "sim/executor/execute.h"

namespace corun::executor {

using ClientWorkers = std::vector<std::unique_ptr<ClientWorker>>;

/// Whether the contexts of kernels belong to an MPS server, as the workers found it.
MpsState mps_of(const ClientWorkers& workers);

/// Priorities that the device has for kernels.
std::int32_t priority_levels_of(const ClientWorkers& workers);

/// What the workers know of the device and of their surrogates. Notes are appended.
void tell_of_workers(const ClientWorkers& workers, const ExecuteOptions& options, ExecuteReport& report);

}  // namespace corun::executor

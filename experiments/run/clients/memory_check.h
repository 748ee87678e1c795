#pragma once

#include <cstdint>
#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// Device memory that a client needs in addition to its context: what it states, else the most that its capture had at
/// a time; 0 = not known.
std::uint64_t needed_bytes(const ClientSpec& client, const DeviceSpec& device);

/// Adds to `refusals` sets of clients that are there at a time and do not fit into the device's memory, contexts
/// included. Where the device pages, clients that state a working set do: they may share less
/// memory than they need. `clients` are those of the scenario.
void refuse_overcommitted(const Scenario& scenario, const std::vector<ClientSpec>& clients, Diagnostics& refusals);

/// Adds to `refusals` a device that pages in blocks at unknown cost, and clients whose order of touches it ignores.
void refuse_unknown_paging(const Scenario& scenario, Diagnostics& refusals);

}  // namespace corun

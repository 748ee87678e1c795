#pragma once

#include <vector>

#include "sim/run/run.h"

namespace corun {

/// What a policy sees of a device; time slices only where it has them.
DeviceView device_view(const DeviceSpec& spec);

/// What a policy sees of each client before it joins.
std::vector<ClientView> client_views(const RunInput& input);

/// Device memory that a client asks for when it joins, and of it what a snapshot copies; where not stated, its working
/// set.
std::uint64_t allocated_bytes(const ClientSpec& spec);
std::uint64_t snapshot_bytes(const ClientSpec& spec);

/// Fraction of the SMs that the first wave of an operation fills, by prototype of the workload.
std::vector<double> sm_demands(const DeviceSpec& spec, const Workload& workload);

}  // namespace corun

#pragma once

#include "sim/arbiter/arbiter.h"
#include "sim/workload/client.h"

namespace corun {

// What every world, simulated or real, tells a client and the arbiter of what its device did, in this order.

/// The client's oldest frame that is not known to have begun has begun.
void report_frame_begin(ClientId id, Client& client, Arbiter& arbiter, Time begin);

/// Its submission `number` has completed, and with it perhaps a frame: then the frame's end follows, then its shadow.
void report_completion(std::uint64_t number, const Completion& completion, Client& client, Arbiter& arbiter);

}  // namespace corun

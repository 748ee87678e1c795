#pragma once

#include <vector>

#include "sim/run/run.h"

namespace corun {

/// The clients of a run in the order in which their contexts are created: by arrival, and drawn with the seed where
/// several come at the same time. Draws are keyed by the clients' names, as their phases and jitter are, so the order
/// in which clients are listed decides nothing.
std::vector<ClientId> arrival_order(const RunInput& input);

/// simulate() with the clients in that order, which decides whose turn is next on a device with a fixed order, and
/// every other tie. Facts and result number the clients as `input` does.
RunResult simulate_in_arrival_order(const RunInput& input, Recorder& recorder);

}  // namespace corun

#pragma once

#include "sim/arbiter/arbiter.h"
#include "sim/live/client/live_client.h"
#include "sim/live/metrics/figures.h"
#include "traces/base/time.h"

namespace corun::live {

/// Adds to totals of a client's facts what it has at its gate, on the device and in memory now, and for how long its
/// launches have been held by now. Where its rate is not known, nor are its jobs.
void add_present_state(ClientFigures& figures, const LiveClient& client, const Arbiter& arbiter, Time now);

}  // namespace corun::live

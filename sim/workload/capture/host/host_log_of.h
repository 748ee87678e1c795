#pragma once

#include "sim/workload/capture/host/host_sequence.h"
#include "sim/workload/capture/steps/host_log.h"
#include "traces/compact_capture.h"

namespace corun {

/// What the search for steps asks of a capture's host: events have the same numbers as in `host`.
HostLog host_log_of(const CompactCapture& capture, const HostSequence& host);

}  // namespace corun

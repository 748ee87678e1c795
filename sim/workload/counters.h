#pragma once

#include "traces/compact_capture.h"
#include "traces/counters/bound_by.h"

namespace corun {

/// What the kernels of a capture use of the device, by the counters in it; counted 0 where there are none.
MeanUse mean_use(const CompactCapture& capture);

}  // namespace corun

#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/capture/host/host_sequence.h"
#include "sim/workload/capture/job_split.h"
#include "traces/compact_capture.h"

namespace corun {

constexpr std::int64_t kNoWait = INT64_MIN;

/// Waits of a host that its capture does not hold, since the host polled or was called back: by job, when the device
/// had done all work before it (ns), or kNoWait where the host did not wait and for the first job. Empty where a wait
/// was recorded, where calls were not, and where launches show none. They do if
///
/// - nine in ten steps begin on a device without work, while most launches within steps do not: before each; or
/// - pauses of over five times the median end on such a device: there;
///
/// and the device worked for a fifth of these pauses in the middle: shorter work ends before a slow host comes back
/// whether it waits or not. A host of one launch a step that is just slower than its device is taken to wait.
std::vector<std::int64_t> unseen_waits(const CompactCapture& capture, const HostSequence& host, const JobSplit& split);

}  // namespace corun

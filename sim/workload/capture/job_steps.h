#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/workload/capture/host/host_sequence.h"
#include "sim/workload/capture/job_split.h"
#include "sim/workload/workload.h"
#include "traces/base/column.h"

namespace corun {

/// An event of a host's sequence that is a wait.
struct HostWait {
  std::size_t event;
  HostEvent wait;
};

/// What a capture says of its host.
struct HostSide {
  const HostSequence& sequence;  ///< is asked for starts alone
  const JobSplit& split;
  const std::vector<HostWait>& waits;             ///< of the jobs, in order; all other events are submissions
  const std::vector<std::int64_t>& unseen_waits;  ///< see unseen_waits.h
  /// By operation of the capture: its number in the workload, or OpRecord::kNoIndex where it is left out. Empty where
  /// no wait is for a single operation.
  const Column<std::uint32_t>& index_of;
};

/// Gives a workload its jobs and their steps: what the host submitted and waited for, and the time of its own before
/// each. Where the split has sizes, jobs are given theirs.
void add_jobs(const HostSide& host, Workload& workload);

}  // namespace corun

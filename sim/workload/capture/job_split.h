#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/capture/host_sequence.h"
#include "traces/compact_capture.h"

namespace corun {

/// Where jobs begin and end in a capture's host sequence. What lies before the first and after the last is left out.
struct JobSplit {
  std::vector<std::size_t> begins;  ///< index of each job's first event; ascending, at least one
  std::size_t end = 0;              ///< index behind the last job's last event
  std::string note;                 ///< what was assumed, one sentence; may be empty
};

/// Splits a capture into jobs: into `iterations` of equal operation count, else (0) by the first rule that finds two or
/// more:
///
/// - PyTorch's marks "ProfilerStep#n"; ends of its marks "Optimizer.step#..."; any other repeated mark whose name
///   speaks of a step, iteration, batch, request or forward;
/// - the host repeats itself: the same launches (by kind and name) and waits over and over (see find_repetition). A job
///   is one period. It begins with a launch before which the host waited for all its work, if there is one; of these,
///   or else of all, with the one before which it paused longest on average. Start-up, jobs at the beginning that took
///   over twice as long as most, and what comes after the last whole job are left out. A period without a wait is no
///   job: programs wait for what a step gave, but not for each of a network's equal layers.
///
/// Otherwise the capture does not say, and is one job. Throws Error(kInput) for more iterations than operations.
JobSplit split_into_jobs(const CompactCapture& capture, const HostSequence& host, std::uint32_t iterations);

}  // namespace corun

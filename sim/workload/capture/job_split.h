#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/capture/host/host_sequence.h"
#include "sim/workload/capture/steps/sized_steps.h"
#include "sim/workload/workload.h"
#include "traces/compact_capture.h"

namespace corun {

/// Where jobs begin and end in a capture's host sequence. What lies before the first and after the last is left out.
struct JobSplit {
  std::vector<std::size_t> begins;  ///< index of each job's first event; ascending, at least one
  std::size_t end = 0;              ///< index behind the last job's last event
  StepFinding finding;              ///< how they were found
  std::vector<SizedStep> sized{};   ///< by job, of an engine's steps; empty for all others
  std::int64_t length_ns = 0;       ///< of a single job that a range marks; 0 = not marked
};

/// Splits a capture into jobs: its steps.
///
/// - As `options` say: `iterations` of equal operation count, or `step`. What lies between ranges of an engine's steps
///   are jobs without a size.
/// - A capture without times is one job: profiles of one iteration are written so.
/// - Ranges that the program marked (find_marked_steps); else what the host does over and over (find_steps).
///
/// Otherwise the capture does not say: it is one job, and the finding's certainty is kNone. Throws Error(kInput) for
/// more iterations, or longer steps, than the capture has operations, and for names that are not in it.
JobSplit split_into_jobs(const CompactCapture& capture, const HostSequence& host, const WorkloadOptions& options);

}  // namespace corun

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/serving/step_size.h"
#include "sim/workload/capture/steps/host_log.h"
#include "sim/workload/workload.h"
#include "traces/timeline.h"

namespace corun {

/// A range that states the size of an engine's step, or what lies between two of them: then without a size.
struct SizedStep {
  std::optional<StepSize> size;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// Where steps of an engine begin and end in a capture's host log.
struct SizedSteps {
  Positions begins;             ///< first event of each, of what lies between them too where it launches something
  std::size_t end = 0;          ///< behind the last event of the last step
  std::vector<SizedStep> jobs;  ///< by job
};

/// By the outermost ranges whose names say so (step_size_of); ranges without a launch are left out. A range that is
/// longer than 1.25 times the median of its size, of at least three, has no size: it prepared something. Empty where
/// there are none.
SizedSteps find_sized_steps(const Timeline& timeline, const HostLog& log);

/// Drops waits of jobs for operations of earlier ones, so that jobs can be replayed in any order, one after another.
void separate_jobs(Workload& workload);

}  // namespace corun

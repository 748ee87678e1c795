#pragma once

#include <cstdint>

#include "sim/workload/scaled.h"
#include "sim/workload/workload.h"

namespace corun {

/// Writing down, step by step, what a synthetic host does: the common part of the workloads in synthetic.h.

/// Opens a job at the workload's present end; its steps and operations follow.
void begin_job(Workload& workload, Time recorded_start);

WorkOp synthetic_op(OpKind kind, std::uint32_t name, Duration duration);

/// The host works for `gap`, then submits `op` and goes on.
void submit(Workload& workload, const WorkOp& op, Duration gap);

/// The host works for `gap`, then waits for the operation submitted last.
void wait_for_last(Workload& workload, Duration gap = Duration{0});

/// The host works for `gap` and submits nothing; what it submitted before must have finished for it to go on.
void work_on_host(Workload& workload, Duration gap);

}  // namespace corun

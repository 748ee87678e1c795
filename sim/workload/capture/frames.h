#pragma once

#include "sim/workload/workload.h"

namespace corun {

/// Turns a log of frames into jobs: one per frame, one operation for each of its draws (see FrameDraws), then one for
/// each visit to the graphics engine after the first. What lies before steady_start is left out.
///
/// GPU time is the frame's busy time; where only its span is known, the span; where neither is, `gpu_busy_ratio` times
/// the interval. Visits after the first are given kLaterVisit each. Host work before a submission is the recorded CPU
/// busy time; a log without it is taken to be bound by its GPU where interval and GPU time agree, else by its host.
/// A log whose intervals sit on a common refresh rate while its GPU has time to spare was paced: present_period says
/// so. One whose frames come at any beat while host and GPU together seem to work for longer than that was held back by
/// a limiter in the game, whose sleep a log shows as work: limiter_period says so, and of the host's work only what
/// follows a frame's first submission is kept (nothing where that is not known). Where host and GPU are both busy all
/// the time, the host waits for the GPU within its calls: no frame's host works longer than a quarter of them do.
/// Errors as workload_from_timeline.
Workload workload_from_frames(const Timeline& timeline, const WorkloadOptions& options);

/// GPU time of each visit after the first, where a log only counts visits.
inline constexpr Duration kLaterVisit{5'000};

}  // namespace corun

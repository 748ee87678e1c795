#pragma once

#include <string>
#include <vector>

#include "sim/workload/capture/frame_pace.h"

namespace corun {

/// The frames of a log that become jobs, how they are paced, and what was left out and assumed, one sentence each.
struct PacedLog {
  FrameLog log;
  FramePace pace;
  std::vector<std::string> notes;
};

/// What lies before steady_start is left out, and so are frames without a GPU time. A note warns where a replay alone
/// is off the record by more than 2 % of the frame rate, 5 % of the 1 % low or the 99th percentile. Errors as
/// workload_from_timeline.
PacedLog paced_log(const Timeline& timeline, const WorkloadOptions& options);

/// Turns a log of frames into jobs: one per frame, one operation for each of its draws (see FrameDraws), then one for
/// each visit to the graphics engine after the first. Visits after the first are given kLaterVisit each. Host work,
/// pacing and queue are those of pace_of. Errors as workload_from_timeline.
Workload workload_from_frames(const Timeline& timeline, const WorkloadOptions& options);

/// GPU time of each visit after the first, where a log only counts visits.
inline constexpr Duration kLaterVisit{5'000};

/// Whether these are captured frames that a display or a limiter paced, and that kept the device busy for less than
/// kFullClockShare of the time: it may have lowered its clock, so that they take less time on a busier device.
bool may_have_low_clock(const Workload& workload);

/// An H200 and an H100 lowered their clocks for games that kept them busy for 17 and 29 % of the time, so that frames
/// took 2.8 and 1.7 times as long as at full clock, and not for one of 50 % (studies/sessions).
inline constexpr double kFullClockShare = 0.5;

}  // namespace corun

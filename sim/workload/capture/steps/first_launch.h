#pragma once

#include "sim/workload/capture/steps/host_log.h"

namespace corun {

/// Where in a stretch a step begins, and what shows it.
struct FirstLaunch {
  Positions begins;        ///< that launch, once in each stretch that has it
  double waited = 0;       ///< part of the steps in which the host waits for work
  double specificity = 0;  ///< those steps over the waits in them: 1 = the host waits once in each
  double long_pauses = 0;  ///< part of the begins before which the host paused longer than before nearly all others
  double pause_ratio = 0;  ///< usual pause before a begin over what nine in ten others do not exceed; 0 without others
  double apart = 0;        ///< part of the begins that are a call of their own, not in the midst of a graph's launch
};

/// The launch with which steps begin: of those before which the host waited for all its work, or of all if it waits
/// nowhere, the one before which it paused longest. A launch is the n-th of its kind in a stretch; it is in four of
/// five stretches, or more. Of pauses the geometric mean counts, so that one long one decides nothing; the first
/// stretch does not count, since what came before it may not be of the loop.
///
/// `bounds`: of stretches, the last of which goes on to the end of the log. `is_near`: only launches of the first fifth
/// of a stretch.
FirstLaunch find_first_launch(const HostLog& log, const Positions& bounds, bool is_near);

/// What shows that steps begin at these launches.
FirstLaunch judge_begins(const HostLog& log, Positions begins);

}  // namespace corun

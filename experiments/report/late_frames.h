#pragma once

#include "experiments/base/json.h"
#include "experiments/report/frames.h"
#include "experiments/report/measured.h"

namespace corun::report {

/// Adds an object for one run to the open array: its latest frames, and the latest of them that lie where decisions and
/// holds were recorded; of each the parts of its time, and the rule that held its client longest. What went on around
/// them is in the run's timeline.
void add_late_frames(SQLite::Database& results, const Run& run, std::size_t setting, const FramesOfRun& frames,
                     Json& json);

}  // namespace corun::report

#pragma once

#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace corun {

/// Sentences on runs that look too short for what is said of them, from the frames that were recorded: in more than
/// half of the seeds the frame times had not settled after the warm-up (MSER-5 on the run's whole series,
/// steady_state.h) or settled only behind a quarter of the horizon; or a run shows fewer than 100 frames, of which a
/// 99th percentile is the slowest; or a client, not of frames, alone ends fewer than 10 jobs in the measured time.
/// `Results.warnings` of Python says the same.
std::vector<std::string> horizon_warnings(SQLite::Database& results);

}  // namespace corun

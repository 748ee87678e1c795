#pragma once

#include <cstddef>
#include <cstdint>

#include "experiments/base/json.h"
#include "experiments/report/frames.h"
#include "experiments/report/measured.h"

namespace corun::report {

/// Rows of all timelines of a page; each gets an equal part, but not fewer than the second number.
inline constexpr std::size_t kTimelineRows = 60'000, kFewestTimelineRows = 2'000;

/// What is less apart is drawn as one: a fifth of a pixel where half a second is as wide as a window.
inline constexpr std::int64_t kTimelineApartNs = 100'000;

/// Adds an object for one run to the open array: what every client did, and when. The whole run, or, where that has
/// more than `most_rows`, a stretch around `focus_ns`, halved until it fits. Nothing is added for a run of which
/// neither frames nor operations, holds or decisions are kept.
///
///     {"setting", "seed", "begin_us", "end_us", "horizon_us", "has_operations", "names": [...], "lanes": [{"client",
///      "frames": "start begin end present number ...", "operations": "begin length count name ...", "holds",
///      "decisions"}]}
///
/// Times are microseconds. The start of a row is told from that of the row before, the other times of a frame from its
/// start; a name is a place in `names`, of operations that are drawn as one that of the longest.
void add_timeline(SQLite::Database& results, const Run& run, std::size_t setting, const FramesOfRun& frames,
                  std::int64_t focus_ns, std::size_t most_rows, Json& json);

}  // namespace corun::report

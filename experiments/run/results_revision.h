#pragma once

namespace corun {

/// Revision of what simulations compute. A change that alters any number of any run raises it by one and records the
/// new results (tests/reliability/results_record.py --record). It is part of every run id and of every results file, so
/// that runs of two revisions are never taken for each other: `--resume` and `simcli merge` refuse them.
inline constexpr int kResultsRevision = 9;

}  // namespace corun

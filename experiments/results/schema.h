#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corun {

/// Schema of the results file (`PRAGMA user_version`); docs/results.md describes its columns, which are a promise.
inline constexpr int kResultsVersion = 2;
inline constexpr std::int64_t kResultsApplicationId = 0x436F7275;  ///< "Coru"

/// Makes every table.
extern const char* const kResultsSchema;

/// Files that were written before it came have none, and the hash of a file does not depend on whether it is there.
inline constexpr char kRequestsTable[] = "requests";

/// The tables whose rows belong to a run, which their first column names. Rows of a run lie together, in the order in
/// which they were written.
inline constexpr std::array<const char*, 10> kRunTables = {"runs",  "metrics",  "frames", "decisions",  "holds",
                                                           "kills", "refusals", "pods",   "operations", kRequestsTable};

/// The column of `runs` that no hash and no comparison looks at: `wall_time_s`.
inline constexpr std::size_t kWallTimeColumn = 12;

}  // namespace corun

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corun::yardstick {

/// The kernels of one stream in order: times from one arrival to the next, and durations.
struct StreamColumns {
  std::vector<std::uint32_t> gap_ns, duration_ns;
};

/// Writes the columns of all streams as they lie in memory.
void write_columns(const std::string& path, const std::vector<StreamColumns>& streams);

/// What a replay cannot do without, and nothing else: reads such a file, then plays every kernel's begin and end in
/// order of time on one tournament tree. A stream runs in order, a kernel is slowed down by how many run, and waiting,
/// busy time, a histogram of latencies and a record of start and end are kept. No policy, no gates, no engine, no ties,
/// no cancelling, one hard-wired device. Returns how many kernels were played.
std::uint64_t replay_floor(const std::string& path);

}  // namespace corun::yardstick

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace corun::report {

inline constexpr std::int64_t kNsPerUs = 1000;  ///< the page counts in microseconds

/// A frame that was shown, in nanoseconds since the run began.
struct ShownFrame {
  std::int64_t number = 0;
  std::int64_t start_ns = 0, submit_ns = 0, gpu_begin_ns = 0, gpu_end_ns = 0, present_ns = 0;
  std::int64_t gpu_busy_ns = 0;   ///< of the stretch between gpu_begin_ns and gpu_end_ns
  std::int64_t interval_ns = -1;  ///< since the present before; -1 for the first
  bool is_missed = false;
};

/// Frames by client, in order of present.
using FramesOfRun = std::map<std::string, std::vector<ShownFrame>>;
FramesOfRun read_frames(SQLite::Database& results, const std::string& run);

/// Where the time between two presents went, in order: until the frame's host began; at its host; waiting at the gate
/// or for the device; the device at work on it; the device at work on others, between its start and its end; done and
/// not yet shown. What happened before the first of the two presents does not count, and the parts add up to the time.
inline constexpr std::size_t kFrameParts = 6;
using FrameParts = std::array<std::int64_t, kFrameParts>;
FrameParts parts_of(const ShownFrame& frame);

}  // namespace corun::report

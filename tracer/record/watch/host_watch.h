#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tracer/record/watch/reading_log.h"
#include "traces/timeline.h"

namespace corun::record {

/// What the threads of recorded programs had of the CPU, as the scheduler counts it (/proc/PID/task/TID/schedstat).
/// Asked from outside of the programs, which are not touched by it. Where the system does not count, nothing is known.
class HostWatch {
 public:
  /// Reads the counts of all threads of these processes. Call it several times a second.
  void look(std::span<const pid_t> processes);

  /// What each thread had between two instants of CLOCK_MONOTONIC. One is missing for which fewer than two looks lie in
  /// that time.
  std::vector<HostUse> between(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  struct Reading {
    std::int64_t at_ns;
    std::int64_t running_ns, waiting_ns;  ///< since the thread began
  };
  static constexpr std::size_t kMostThreads = 4'096;
  static constexpr std::size_t kMostReadings = 512;  ///< of each: 50 MB of memory with all threads

  std::map<std::pair<pid_t, pid_t>, ReadingLog<Reading, kMostReadings>> readings_;  ///< by process and thread
};

}  // namespace corun::record

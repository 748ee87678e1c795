#include "sim/workload/capture/unseen_waits.h"

#include <algorithm>

namespace corun {

namespace {

constexpr std::size_t kFewest = 8;
constexpr double kMostBegins = 0.9, kMostLongPauses = 0.95, kMostWithin = 0.5;
constexpr std::int64_t kLongPause = 5;  // times the median
constexpr double kLeastExplained = 0.2;

/// A call that launches: one operation, or the graph that several came from.
struct Launch {
  std::int64_t pause_ns = 0;       ///< since the launch before it
  std::int64_t worked_ns = 0;      ///< from the launch before it until the device had done all work
  std::int64_t idle_since_ns = 0;  ///< when all work before it had ended
  bool found_device_idle = false;
};

struct Launches {
  std::vector<Launch> begins;  ///< by job
  std::size_t within = 0, idle_within = 0;
};

/// Nothing where the host waits in between.
Launches launches_of(const CompactCapture& capture, const HostSequence& host, const JobSplit& split) {
  Launches found;
  std::int64_t last_ns = host.start_of(0) - 1, end_ns = 0, idle_since_ns = 0;
  for (std::size_t i = 0, next_job = 0; i < split.end; ++i) {
    if (!host.is_submission(i)) {
      if (i < split.begins.front()) continue;
      return {};
    }
    const std::int64_t start_ns = host.start_of(i);
    const bool is_begin = next_job < split.begins.size() && i == split.begins[next_job];
    const bool is_new = start_ns != last_ns;
    if (is_new) idle_since_ns = end_ns;
    const Launch launch{start_ns - last_ns, idle_since_ns - last_ns, idle_since_ns,
                        is_new && idle_since_ns <= start_ns};
    if (is_begin) {
      found.begins.push_back(launch);
      ++next_job;
    } else if (is_new && next_job > 0) {
      ++found.within;
      found.idle_within += launch.found_device_idle ? 1 : 0;
    }
    last_ns = start_ns;
    end_ns = std::max(end_ns, capture.end_of(host[i].target));
  }
  return found;
}

bool are_mostly(const std::vector<Launch>& launches, std::int64_t longer_than_ns, double share) {
  std::size_t longer = 0, idle = 0;
  for (const Launch& launch : launches) {
    if (launch.pause_ns <= longer_than_ns) continue;
    ++longer;
    idle += launch.found_device_idle ? 1 : 0;
  }
  return longer >= kFewest && static_cast<double>(idle) >= share * static_cast<double>(longer);
}

template <class Value>
auto median(const std::vector<Launch>& launches, Value value) {
  std::vector<decltype(value(launches.front()))> values;
  for (const Launch& launch : launches) values.push_back(value(launch));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What of the pause before it the device still worked.
double explained_by_device(const Launch& launch) {
  return static_cast<double>(launch.worked_ns) / static_cast<double>(launch.pause_ns);
}

}  // namespace

std::vector<std::int64_t> unseen_waits(const CompactCapture& capture, const HostSequence& host, const JobSplit& split) {
  if (!capture.rest.fidelity().has_calls || split.begins.size() < kFewest) return {};
  Launches launches = launches_of(capture, host, split);
  std::vector<Launch>& begins = launches.begins;
  if (begins.empty()) return {};
  begins.front() = {};  // what was before it may be left out
  const bool is_slow_throughout =
      static_cast<double>(launches.idle_within) > kMostWithin * static_cast<double>(launches.within);
  std::int64_t longer_than_ns = 0;
  if (is_slow_throughout || !are_mostly(begins, longer_than_ns, kMostBegins)) {
    longer_than_ns = kLongPause * median(begins, [](const Launch& launch) { return launch.pause_ns; });
    if (!are_mostly(begins, longer_than_ns, kMostLongPauses)) return {};
  }
  std::vector<std::int64_t> waits;
  std::vector<Launch> waiting;
  for (const Launch& begin : begins) {
    const bool waits_here = begin.found_device_idle && begin.pause_ns > longer_than_ns;
    waits.push_back(waits_here ? begin.idle_since_ns : kNoWait);
    if (waits_here) waiting.push_back(begin);
  }
  if (median(waiting, explained_by_device) < kLeastExplained) return {};
  return waits;
}

}  // namespace corun

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// A stretch of CLOCK_MONOTONIC, both ends included.
struct Window {
  std::int64_t from_ns = 1;            ///< 0 is "no time"
  std::int64_t to_ns = INT64_MAX / 4;  ///< behind it is no instant that a timeline holds

  bool holds(std::int64_t ns) const { return ns >= from_ns && ns <= to_ns; }
  /// Widens it so that it holds an instant; 0 is none.
  void include(std::int64_t ns);
};

/// Adds a span; what is below 0 counts as 0, and the sum of untrusted numbers stays within what a timeline holds.
void add_span(std::int64_t& sum_ns, std::int64_t span_ns);

/// Which contexts used the device when, and which worked side by side.
class Activity {
 public:
  /// Work of a context of a process. All graphics of a process counts as one context.
  void add(std::uint64_t process, std::uint64_t context, std::uint32_t device, std::int64_t from_ns,
           std::int64_t to_ns);
  /// True where the spans of two contexts that may share a device overlap.
  bool has_overlap() const;

  static constexpr std::uint32_t kAnyDevice = UINT32_MAX;  ///< graphics: the device is not known

 private:
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, Window> spans_;
};

/// Where the rows of one part go.
struct PartTarget {
  TimelineBuilder& builder;
  Activity& activity;
  std::uint64_t process = 0;                           ///< number of the process in the timeline
  Window window;                                       ///< rows that begin outside are left out
  std::function<std::uint32_t(std::uint32_t)> device;  ///< of the timeline, by the process's ordinal
};

}  // namespace corun

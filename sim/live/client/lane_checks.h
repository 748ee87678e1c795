#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sim/executor/host/wall_clock.h"
#include "traces/base/time.h"

namespace corun::live {

/// Reads one value out of memory that a program may write to at any time: once, so that what is checked is what is
/// used.
template <class T>
T read_once(const T& shared) {
  T value;
  __atomic_load(const_cast<T*>(&shared), &value, __ATOMIC_RELAXED);
  return value;
}

/// Checks of what a program's memory says, and the first that failed. One thread.
class LaneChecks {
 public:
  explicit LaneChecks(const executor::WallClock& clock) : clock_(clock) {}

  /// What no gate writes, for people: "launch 7 has kind 9"; "" while all is well.
  const std::string& fault() const { return fault_; }
  bool has_fault() const { return !fault_.empty(); }

  template <class... Args>
  void fail(fmt::format_string<Args...> what, Args&&... args) {
    if (fault_.empty()) fault_ = fmt::format(what, std::forward<Args>(args)...);
  }
  /// Returns whether it holds.
  template <class... Args>
  bool expect(bool holds, fmt::format_string<Args...> what, Args&&... args) {
    if (!holds) fail(what, std::forward<Args>(args)...);
    return holds;
  }

  /// The instant of the run at which a clock showed this; nullopt and a fault: it is before the run, or to come.
  std::optional<Time> instant(std::int64_t shown_ns, const char* what);
  /// Likewise of a length.
  std::optional<Duration> length(std::int64_t ns, const char* what);

 private:
  const executor::WallClock& clock_;
  std::string fault_;
};

}  // namespace corun::live

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "experiments/base/terminal.h"
#include "experiments/run/runner.h"

namespace corun {

enum class ProgressStyle : std::uint8_t { kAuto, kPlain, kNone };

/// Shows on stderr how far a plan has come: a bar on a terminal once a second has passed, else a plain line every 30 s.
/// The time left is reckoned from the simulated time of the runs that are done. Calls must not overlap.
class Progress {
 public:
  Progress(const Experiment& experiment, const Plan& plan, ProgressStyle style, const Terminal& terminal);
  /// For runs that take as long as they say, one after the other: a line as each begins, with the time that is left.
  void begins(const RunSpec& spec);
  void finished(const RunSpec& spec, const RunOutcome& outcome);
  void clear();  ///< removes the bar

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(const RunSpec& spec) const;

  const Experiment& experiment_;
  const Plan& plan_;
  ProgressStyle style_;
  Terminal terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  std::size_t done_ = 0;
  std::uint64_t events_ = 0;
  double simulated_s_ = 0, planned_s_ = 0;
  bool has_bar_ = false;
};

}  // namespace corun

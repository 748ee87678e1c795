#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tracer/record/child.h"
#include "tracer/record/host/signals.h"
#include "tracer/record/host/terminal.h"
#include "tracer/record/neighbours.h"
#include "tracer/record/options.h"
#include "tracer/record/parts_folder.h"
#include "tracer/record/session.h"
#include "tracer/record/watch/host_watch.h"
#include "tracer/record/watch/memory_watch.h"
#include "tracer/record/watch/power_watch.h"

namespace corun::record {

/// Runs a program under a recording and turns its parts into a capture.
///
/// Signals that reach us go on to the program; those of the terminal have reached it already. We end when it does, or
/// later: with --follow-children when no writer of a part lives any more. Where the window of --timed is over and the
/// program goes on, the capture is written at once.
class Recording {
 public:
  /// `environment` is what programs get apart from the guests.
  Recording(const RecordOptions& options, const PartsFolder& folder, const Environment& environment);

  /// The exit code of simtrace. Throws Error(kUnsupported) where a guest that was insisted on cannot be put in place,
  /// before anything is started; nothing after that.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  Environment environment_of(const RecordOptions& options, const std::string& parts, std::vector<std::string>& notes);
  std::optional<int> run_untraced_pass(Environment environment);
  int run_traced_pass(Environment environment);
  int cannot_execute(int error);
  void set_window(Environment& environment);
  bool is_over(Child& child);
  bool has_living_writers() const;
  void take_signal(Child& child, int milliseconds);
  void look_around();
  void look_for_neighbours(Clock::time_point now);
  void look_at_memory();
  void look_at_host();
  void watch_window(Child& child);
  bool has_settled() const;
  void show_progress();
  void clear_progress();
  void finish();
  void write_capture();
  void give_up(const Error& error);
  void tell_nothing_was_recorded(const Session& session);
  void remove_parts(const Session& session);

  const RecordOptions& options_;
  const PartsFolder& folder_;
  const Environment inherited_;
  const Terminal terminal_ = inspect_stderr();
  Signals signals_;
  Neighbours neighbours_;
  MemoryWatch memory_;
  PowerWatch power_;
  HostWatch host_;
  std::vector<std::string> notes_;

  Clock::time_point begin_;
  Clock::time_point window_begin_;
  std::optional<Clock::time_point> window_end_;
  std::optional<Clock::time_point> window_over_;  ///< its parts were complete then, or patience was at an end
  Clock::time_point looked_;
  std::optional<double> seconds_, untraced_seconds_;
  int stopped_by_ = 0;           ///< the last signal that asked to stop while what we wait for now was there
  bool is_window_seen_ = false;  ///< neighbours were looked for when it began
  bool is_finished_ = false;
  bool has_failed_ = false;
  bool shows_progress_ = false;
};

}  // namespace corun::record

#pragma once

#include <chrono>
#include <cstdint>

namespace corun {

/// The clock of a run: it has a unit and an origin, but no now().
///
/// Only the owner of time (the engine in simulation, the executor on hardware) can say what time it is, and hands it
/// in as an argument. A wall-clock instant neither converts to nor compares with an instant of a run, so code that
/// reads the machine's clock by mistake does not compile.
struct RunClock {
  using duration = std::chrono::duration<std::int64_t, std::nano>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<RunClock>;
  static constexpr bool is_steady = true;
};

/// A length of time in integer nanoseconds. Negative values are legal in arithmetic, never in a recorded fact.
using Duration = RunClock::duration;

/// An instant of a run, in integer nanoseconds since the run began.
using Time = RunClock::time_point;

/// The first instant of every run.
inline constexpr Time kRunStart{};

/// "Not in this run": later than every instant that can be scheduled.
inline constexpr Time kNever = Time::max();

/// Nanoseconds since the run began. Numbers leave the time types only at edges, under names that end in `_ns`.
constexpr std::int64_t to_ns(Time t) { return t.time_since_epoch().count(); }
constexpr std::int64_t to_ns(Duration d) { return d.count(); }
constexpr Time time_from_ns(std::int64_t ns) { return Time{Duration{ns}}; }

/// Seconds and milliseconds for people: reports, metrics and messages, never for arithmetic inside a run.
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }
constexpr double to_milliseconds(Duration d) { return static_cast<double>(d.count()) * 1e-6; }

}  // namespace corun

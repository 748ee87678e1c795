#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/live/metrics/histogram.h"
#include "sim/policy/action.h"
#include "traces/base/time.h"

namespace corun::live {

/// Bounds of frame times, from 1 ms to 1 s: twelve to a decade.
std::span<const Duration> frame_time_bounds();
/// Bounds of waits and job times, from 1 us to 100 s: three to a decade.
std::span<const Duration> wait_bounds();

/// How many kinds of actions there are.
inline constexpr std::size_t kActionKinds = static_cast<std::size_t>(Action::Kind::kSetInstance) + 1;

/// What there is to tell of a client while a live run goes on. Totals are since the run began, its warm-up included.
struct ClientFigures {
  std::string name;
  bool has_frames = false;  ///< it is interactive, or has shown one

  // Totals of facts.
  Histogram gate_wait{wait_bounds()};         ///< from a launch's submission until it passed the gate
  Histogram wait{wait_bounds()};              ///< until it began on the device
  Histogram job_time{wait_bounds()};          ///< from arrival to end
  Histogram frame_time{frame_time_bounds()};  ///< from present to present
  RecentTimes recent_job_times, recent_frame_times;
  std::uint64_t jobs = 0, frames = 0, missed_frames = 0;
  std::map<std::string, Duration, std::less<>> held;  ///< by rule: its launches waited at the gate
  std::array<std::uint64_t, kActionKinds> actions{};  ///< of the policy, applied
  Duration lost{};                                    ///< device time that kills threw away
  std::uint64_t refused = 0;

  // Totals of the run.
  Duration device_time{};
  std::uint64_t launches = 0;  ///< that have passed the gate
  std::uint64_t snapshots = 0, refused_allocations = 0;

  // What is now.
  bool is_present = false;  ///< it has come, has not left, and is not being started again
  bool gate_is_open = false;
  bool has_known_jobs = true;  ///< its jobs are what its trace calls one
  std::string hold;            ///< rule by which its launches wait; "" = none wait, or no rule is stated
  std::uint64_t waiting = 0, in_flight = 0;
  std::uint64_t allocated = 0, memory_limit = 0;  ///< bytes; 0 = no limit
};

/// What there is to tell of a live run that goes on, or of the last one.
struct RunFigures {
  std::string policy, device;
  std::uint64_t number = 0;  ///< of the command's runs, from 1
  Duration elapsed{}, horizon{};
  Duration device_busy{};       ///< some client had work there
  std::uint64_t decisions = 0;  ///< how often the policy was asked
  Duration decision_time{};     ///< that it took for them, and that applying them took
  std::vector<ClientFigures> clients;
};

}  // namespace corun::live

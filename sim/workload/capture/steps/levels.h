#pragma once

#include <optional>
#include <vector>

#include "sim/workload/capture/steps/first_launch.h"
#include "sim/workload/capture/steps/likeness.h"

namespace corun {

/// Steps are not claimed of fewer stretches, and a coarser level of this many of a finer one's is not preferred.
constexpr std::size_t kFewestSteps = 3, kFewRounds = 8;
constexpr double kVeryAlike = 0.95;  ///< likeness of events, from which on steps are likely

/// One way to divide a log into stretches, and what speaks for them being steps.
struct Level {
  FirstLaunch first;
  Likeness likeness;
  bool closes_update = false;  ///< a burst of kernels that update parameters lies at the end of each

  std::size_t steps() const { return first.begins.size(); }
  double alike() const { return likeness.events + likeness.symbols; }
  bool is_exact() const { return likeness.events >= 0.98 && likeness.symbols >= 0.98; }

  bool waits_in_each() const { return first.waited >= 0.8; }
  bool waits_once() const { return first.specificity >= 0.9; }
  /// A host that waits all the time, as one that is debugged, closes nothing by it.
  bool is_closed_by_waits() const { return waits_in_each() && first.specificity >= 0.2; }
  bool is_closed_by_pauses() const { return first.long_pauses >= 0.7; }
  /// Layers are parted by pauses that are up to six times as long as others (vLLM's graphs of pieces of a model).
  bool is_parted_clearly() const { return is_closed_by_pauses() && first.pause_ratio >= 8; }
};

/// The levels of a log, of most candidates of find_anchors one for each number of recurrences: that whose stretches are
/// most alike. What is unlike the others at both ends is left out of the comparison. A level holds most of the log, but
/// for its start.
std::vector<Level> levels_of(const HostLog& log);

/// The level whose stretches end with updates of parameters, if it is one; nullopt = none. Where nets are trained in
/// turns (adversarial training), each with an update of its own, a stretch is a round of all.
std::optional<Level> update_level(const HostLog& log, const std::vector<Level>& levels);

/// The level whose stretches hold one copy to the host each and are very alike, with steps that end with that copy: a
/// host that polls for what it reads (JAX) has no wait recorded. nullopt = none.
std::optional<Level> read_back_level(const HostLog& log, const std::vector<Level>& levels);

/// The level that is closed by waits: the finest one whose stretches are alike. A coarser one goes before it if it is
/// more complete, and has either fewer than eight of its stretches in one or the only wait at the end of each.
const Level* closed_level(const std::vector<Level>& levels);

/// The level of a host that waits in ways which are not recorded: it polls, or is called back. Its stretches explain
/// everything that recurs; or they are parts of such, parted by pauses that leave no doubt.
const Level* complete_level(const std::vector<Level>& levels);

}  // namespace corun

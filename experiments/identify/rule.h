#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/device/spec.h"

namespace corun::identification {

/// A number of a device file that is looked for, on a lattice of its own.
struct Unknown {
  std::string_view key;       ///< as in device files: "time_slice"
  int least, most;            ///< steps on the lattice
  int first, spacing, count;  ///< where the search begins: steps first, first + spacing, ...
  double (*value)(int step);  ///< ns of durations
  void (*set)(DeviceSpec& device, double value);
};

/// 0.125 to 16 ms and 6 us to 1.6 ms in steps of 1.1 %; 1/64 to 1 in steps of 1/64.
const Unknown& time_slice_unknown();
const Unknown& switch_cost_unknown();
const Unknown& sm_fill_exponent_unknown();

/// One of the rules by which a GPU could arbitrate, without its numbers.
struct Rule {
  Sharing sharing = Sharing::kTimeSliced;
  GraphicsScheduling graphics = GraphicsScheduling::kToCompletion;
  SpatialRule spatial = SpatialRule::kDispatchOrder;
  LoneSlice lone_slice = LoneSlice::kRolls;
  bool has_trailing_visits = false;  ///< see with_trailing_visits()
  bool tells_graphics = false;       ///< its name says how graphics are scheduled
  std::vector<const Unknown*> unknowns;

  std::string name() const;  ///< "time_sliced, lone slice rolls, graphics to_completion"
};

/// A rule with a number for each of its unknowns, in steps of their lattices.
struct Hypothesis {
  std::size_t rule = 0;
  std::vector<int> steps;
  auto operator<=>(const Hypothesis&) const = default;
};

/// Rules without a daemon for MPS: time slices under every scheduling of graphics, with and without trailing visits,
/// lone slices rolling or used up; kernels that wait for one another; and kernels that run at once, again under every
/// scheduling of graphics. Without frames, graphics are as in `base`.
std::vector<Rule> rules_of_contexts(const DeviceSpec& base, bool has_frames);

/// Rules of a daemon for MPS: kernels share SMs in dispatch order or fairly, or the daemon is not in effect.
std::vector<Rule> rules_of_mps(const DeviceSpec& base);

/// The device that a hypothesis says there is; what no hypothesis is about is as in `base`.
DeviceSpec device_of(const Hypothesis& hypothesis, const std::vector<Rule>& rules, const DeviceSpec& base);

/// As written in device files.
std::string_view to_string(Sharing sharing);
std::string_view to_string(GraphicsScheduling graphics);
std::string_view to_string(SpatialRule spatial);
std::string_view to_string(LoneSlice lone_slice);

}  // namespace corun::identification

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/calibration/probes/sample.h"
#include "traces/base/time.h"

namespace corun::calibration {

/// A probe of a trial, and its settings.
struct ProbeChoice {
  std::string probe;
  std::map<std::string, std::int64_t> settings{};
  int thread_percent = 100;  ///< CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of its process
};

/// Probes that measure at the same time.
struct Trial {
  std::string group;  ///< what --only picks
  std::string name;   ///< what fits find its samples by
  std::vector<ProbeChoice> probes;
  bool under_mps = false;
  std::uint32_t repetitions = 1;

  Duration expected() const;  ///< about how long it takes, with the starting of its processes
};

/// Parts of the device, in percent, that programs fill which take turns in trials slice_fill_*.
inline constexpr std::array kSliceFills = {5, 25, 50};

/// Everything that `simcli calibrate` measures, in the order of its worth.
const std::vector<Trial>& calibration_plan();

/// Names of the plan's groups, in its order.
std::vector<std::string> calibration_groups();

}  // namespace corun::calibration

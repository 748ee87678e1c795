#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/calibration/probes/plan.h"
#include "sim/calibration/probes/sample.h"

namespace corun::calibration {

struct CalibrateOptions {
  std::string probe;  ///< the program corun-probe
  std::string library = "libcuda.so.1";
  std::string control;  ///< of MPS; "" = the one of the PATH
  int device = 0;
  std::vector<std::string> groups;               ///< of the plan; empty = all
  Duration patience = std::chrono::seconds{30};  ///< with a probe that gets ready, or that should be through by now
  /// Called before a trial with its number, how many there are, and about how long the rest will take.
  std::function<void(const Trial&, std::size_t number, std::size_t count, Duration left)> on_trial;
  std::function<bool()> is_interrupted;  ///< ends after the present trial
};

/// Measures: carries out the plan's trials one after another, those under MPS with a daemon of its own. A probe that
/// fails or hangs leaves a sample that says so, and the others go on; it is killed by its process id. Throws what the
/// first probe, of the device's properties, fails with: Error(kUnsupported) without a GPU.
Samples measure(const CalibrateOptions& options);

}  // namespace corun::calibration

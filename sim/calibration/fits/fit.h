#pragma once

#include <vector>

#include "sim/calibration/fits/finding.h"
#include "sim/calibration/probes/sample.h"
#include "sim/device/spec.h"

namespace corun::calibration {

/// Default of the open kernel modules: a rival of the slices that are measured.
inline constexpr Duration kOpenDriverSlice{1'024'000};

/// What samples show about a device. Pure functions: the same samples give the same findings. Each takes what was found
/// before it into `device`, the values that its predictions need, and puts its own there. What cannot be concluded is
/// left out.
using Fit = std::vector<Finding> (*)(const Samples& samples, DeviceSpec& device);

std::vector<Finding> fit_properties(const Samples&, DeviceSpec&);  ///< what the driver reports
std::vector<Finding> fit_slices(const Samples&, DeviceSpec&);      ///< time slice, switch cost
std::vector<Finding> fit_idle(const Samples&, DeviceSpec&);        ///< linger and wake-up of idle contexts
std::vector<Finding> fit_host(const Samples&, DeviceSpec&);        ///< copies, launches, contexts, clocks, priorities
std::vector<Finding> fit_graphics(const Samples&, DeviceSpec&);    ///< frames co-located with computing contexts
std::vector<Finding> fit_sm_rate(const Samples&, DeviceSpec&);     ///< rate over multiprocessors
std::vector<Finding> fit_spatial(const Samples&, DeviceSpec&);     ///< kernels of several clients under MPS

struct Calibration {
  DeviceSpec device;
  std::vector<Finding> findings;
  std::vector<std::string> failures;  ///< one line for each trial that failed, those that failed alike together
  bool has_gone_wrong = false;        ///< a trial failed for another reason than that this machine cannot do it
};

/// All of them.
Calibration conclude(const Samples& samples);

}  // namespace corun::calibration

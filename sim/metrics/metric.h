#pragma once

#include <string>

namespace corun {

/// One figure of a run, long form.
struct Metric {
  std::string client;  ///< client name; "device" for the device's own, "cluster" for a cluster's
  std::string name;    ///< carries its unit: "frame_time_p99_ms"
  double value = 0.0;
  std::string unit;  ///< as in the metric table
};

}  // namespace corun

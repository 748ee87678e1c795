#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "sim/calibration/probes/sample.h"

namespace corun::calibration {

/// What a probe receives: its settings, and its device and driver.
struct ProbeRequest {
  std::string name;
  std::string library = "libcuda.so.1";
  int device = 0;
  std::map<std::string, std::int64_t> settings;

  std::int64_t setting(const std::string& key, std::int64_t otherwise) const {
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second;
  }
};

/// Called by a probe once it is ready to measure: returns at the common start, with what CLOCK_MONOTONIC shows then.
using AwaitStart = std::function<std::int64_t()>;

/// One small measurement in a process of its own. It prepares itself alone (what it measures of its own kernels there
/// is undisturbed), waits for the start that all probes of a trial have in common, measures, and returns series.
using Probe = Sample (*)(const ProbeRequest& request, const AwaitStart& await_start);

Sample probe_properties(const ProbeRequest&, const AwaitStart&);  ///< attributes of the device
Sample probe_spin(const ProbeRequest&, const AwaitStart&);        ///< watches the device's clock for absences
Sample probe_short(const ProbeRequest&, const AwaitStart&);       ///< short kernels with pauses
Sample probe_load(const ProbeRequest&, const AwaitStart&);        ///< kernels one after another
Sample probe_rates(const ProbeRequest&, const AwaitStart&);       ///< fixed work of every kind
Sample probe_fills(const ProbeRequest&, const AwaitStart&);       ///< the same, few blocks on a multiprocessor
Sample probe_copy(const ProbeRequest&, const AwaitStart&);        ///< copies up, down and both ways
Sample probe_launch(const ProbeRequest&, const AwaitStart&);      ///< cost of launches, depth of the queue
Sample probe_context(const ProbeRequest&, const AwaitStart&);     ///< makes contexts
Sample probe_memory(const ProbeRequest&, const AwaitStart&);      ///< watches the device's free memory
Sample probe_clock(const ProbeRequest&, const AwaitStart&);       ///< clock of the multiprocessors
Sample probe_priority(const ProbeRequest&, const AwaitStart&);    ///< streams of two priorities
Sample probe_draw(const ProbeRequest&, const AwaitStart&);        ///< frames by OpenGL

/// `corun-probe NAME key=value...`: says "ready" in a line of stdout, waits for a line on stdin with the instant
/// of CLOCK_MONOTONIC at which to begin, measures, and prints its Sample in a line. Returns the exit code; throws
/// Error.
int run_probe(int count, char** words);

}  // namespace corun::calibration

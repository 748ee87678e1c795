#pragma once

#include <string>
#include <vector>

#include "experiments/report/measured.h"

namespace corun::report {

struct Verdict {
  std::string text;  ///< "pilotfish.game.fps_mean >= 55fps: 60.0 fps"
  bool holds = false;
  bool decides = false;  ///< an expectation of the experiment, not the QoS of a client
};

/// What was expected of a scenario, judged by the means over its seeds. Empty for results that do not state it.
std::vector<Verdict> verdicts(const Measured& measured, const Scenario& scenario);

}  // namespace corun::report

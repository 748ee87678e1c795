#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "experiments/bands/bands.h"
#include "experiments/bands/mechanism.h"
#include "experiments/question/experiment.h"

namespace corun {

/// What decides how far predicted figures of a client in company may be off, and is known before its run.
struct ErrorClass {
  std::string mechanism;     ///< of Bands: "turns", "mps with servers"; games among the clients are found by the run
  std::size_t programs = 2;  ///< that share the GPU
  std::string unmeasured{};  ///< what nothing measured was like: "the device", "its rate alone"; "" = all was
  double measured_s = 0;     ///< Scenario::measured_s(); 0 = not known
  Measured measured() const { return unmeasured.empty() ? Measured::kAll : Measured::kPart; }
  std::string label() const;  ///< "turns of 2 programs", "mps of 3 programs, but not the device"
};

/// Of the clients of a scenario under a policy, by name; none: of what is like it too few co-runs were measured.
/// Compared were captured programs in closed replay and captured servers, two or more, that share in turns, under MPS
/// or with MPS percentages; nothing of a policy that holds launches back, or of made-up programs.
std::map<std::string, ErrorClass> error_classes(const Scenario& scenario, const PolicyChoice& policy);

}  // namespace corun

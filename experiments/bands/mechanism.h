#pragma once

#include <string>

#include "experiments/question/experiment.h"

namespace corun {

/// By what the driver alone shares the device: "turns", "mps", or with caps on SMs "split"; "" under a policy that does
/// more, and on devices that run one program at a time.
std::string driver_mechanism(const Scenario& scenario, const PolicyChoice& policy);

/// The same with servers among the clients: "turns with servers"; or else the policy's name, where kernels of all
/// clients run at once "NAME under mps". "" where nothing is shared (one client, a cluster), or nothing simulated.
/// Games among the clients are found by the run: mechanism_among().
std::string mechanism_of(const Scenario& scenario, const PolicyChoice& policy);

}  // namespace corun

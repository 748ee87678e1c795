#pragma once

#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// Adds to `refusals` what of the scenario's `mig` policies its device cannot do: it has no MIG; an instance of that
/// size does not exist, or has too little memory for its client; instances of clients that are there at a time have no
/// place together. `clients` are those of the scenario.
void refuse_impossible_instances(const Scenario& scenario, const std::vector<ClientSpec>& clients,
                                 Diagnostics& refusals);

}  // namespace corun

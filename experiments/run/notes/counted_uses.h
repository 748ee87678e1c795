#pragma once

#include <string>
#include <vector>

#include "experiments/run/clients/client_builder.h"

namespace corun {

/// What the kernels of a scenario's clients use of the device, a note for each client whose kernels were counted for
/// the most part (counted_use_note).
std::vector<std::string> counted_uses(const Scenario& scenario, ClientBuilder& builder);

}  // namespace corun

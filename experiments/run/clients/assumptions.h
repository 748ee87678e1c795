#pragma once

#include <string>
#include <vector>

#include "experiments/run/clients/client_builder.h"

namespace corun {

/// What is assumed of a scenario's clients, a sentence each, in their order: captures of other devices, what their
/// importers left open, factors of fits to solo rates.
std::vector<std::string> assumptions(const Scenario& scenario, ClientBuilder& builder);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "experiments/run/clients/client_builder.h"

namespace corun {

/// What is doubtful of a scenario as a whole, a sentence each: shares or limits that add up to more than the device,
/// switches longer than time slices, frame rates expected of clients without frames, power that is known of a part of
/// the clients.
std::vector<std::string> scenario_doubts(const Scenario& scenario, ClientBuilder& builder);

}  // namespace corun

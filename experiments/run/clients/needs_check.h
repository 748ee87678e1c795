#pragma once

#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// What shares each card of a cluster whose pods do the work of clients: as written, else `passthrough`, as on a
/// machine without any sharing software.
PolicyChoice card_policy(const Scenario& scenario, const PolicyRegistry& policies);

/// Checks that each policy of the scenario, and that of its cards, finds what it needs among `clients`, those of the
/// scenario. Adds errors (kUnsupported) at the policy's place in the experiment.
void check_needs(const Scenario& scenario, const std::vector<ClientSpec>& clients, const PolicyRegistry& policies,
                 Diagnostics& refusals);

/// Of a live scenario: adds to `refusals` policies that kill best-effort clients whose programs may not be started
/// again, and clients that may be although they have frames. `clients` are those of the scenario, in its order.
void refuse_unkillable(const Scenario& scenario, const std::vector<ClientSpec>& clients, const PolicyRegistry& policies,
                       Diagnostics& refusals);

}  // namespace corun

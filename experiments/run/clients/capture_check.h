#pragma once

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// Adds to `refusals` what makes the answer of a client's replay doubtful and the client does not accept: its capture
/// is of another GPU, or waits for other GPUs. `client` is what `choice` of the scenario became.
void refuse_doubtful(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& client,
                     Diagnostics& refusals);

}  // namespace corun

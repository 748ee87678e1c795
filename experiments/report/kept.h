#pragma once

#include "experiments/base/json.h"
#include "experiments/report/measured.h"

namespace corun::report {

/// Adds "kept" to the open object of a scenario: which part of its rate alone each client keeps, [setting, client,
/// mean, low, high, low end of the band, high end] each. Low and high are the 95 % interval over the seeds; where there
/// is no band, its ends are null. Clients whose rate alone is unknown have no row.
void add_kept(const Scenario& scenario, Json& json);

}  // namespace corun::report

#pragma once

#include "policies/joint/shares.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The parameter table of joint_harvest: its own rows, those of djay and those of pilotfish.
ParameterTable joint_harvest_parameters();

FillerShares::Settings filler_share_settings(const Parameters& parameters);

}  // namespace corun

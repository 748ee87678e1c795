#pragma once

#include "policies/djay/admission.h"
#include "policies/djay/levels.h"
#include "policies/djay/probes.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The parameter table of dJay.
ParameterTable djay_parameters();

/// What each part of dJay takes from it.
DjayGame::Settings djay_game_settings(const Parameters& parameters);
DjayAdmission::Settings djay_admission_settings(const Parameters& parameters);
DjayProbes::Settings djay_probe_settings(const Parameters& parameters);
LevelChooser::Settings djay_level_settings(const Parameters& parameters);
/// Of frame_budget, without the headroom.
Duration djay_budget(const Parameters& parameters);

}  // namespace corun

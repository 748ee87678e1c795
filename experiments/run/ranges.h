#pragma once

#include "experiments/question/experiment.h"

namespace corun {

/// Where nothing tells a captured program's own host speed (no `solo_rate`, no untraced pass, no `host_gaps`), a
/// recorder lengthened its host gaps by an unknown factor, and every figure is a range. Puts scenarios that bound it in
/// the place of each scenario with such programs: each program once with its gaps as recorded and once with none, in
/// all combinations of up to two programs. Of more programs: all alike, and each one unlike all others. Programs whose
/// solo rate is the same at both ends, within 1 %, are left as recorded. Clients of one capture are one program.
///
/// The new scenarios are named after the ends, "pair (bert fastest)", and know the one they bound
/// (Scenario::bounds). What cannot be read is left to later checks.
Experiment with_host_ranges(Experiment experiment);

/// The ends of what a device may draw of a game without a break: 0.5 ms, whole frames.
inline constexpr Duration kShortDraws{500'000}, kOneDraw{1'000'000'000};

/// The same of captured games in company where neither capture nor client says what the device draws without a break
/// (FrameDraws::are_unknown): each once with either of these ends. It comes before the ranges of hosts, which then
/// bound each of its scenarios.
Experiment with_draw_ranges(Experiment experiment);

}  // namespace corun

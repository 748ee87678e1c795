#pragma once

#include "games/scene/options.h"

namespace scene {

/// Shows frames until their number, their time or SIGTERM (SIGINT) ends it, then prints one line of JSON about them.
/// Obeys CORUN_QUALITY. Throws Failure.
void play(const Options& options);

}  // namespace scene

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/base/json.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture of frames alone says of its game, as lines of a label and a text each: frame rate, 1 % low, 99th
/// percentile, what bounds it, programs and swap chains, and what a replay would assume or why there is none. Empty for
/// other captures.
std::vector<std::pair<const char*, std::string>> game_report(const Timeline& timeline);

/// The same as a member "game" of an object; nothing for other captures.
void add_game_report(Json& json, const Timeline& timeline);

}  // namespace corun

#pragma once

#include <string>

#include "experiments/base/json.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture says of its program, for people: its steps, how they were found, whether it can be replayed and else
/// what to write. "" for captures of frames alone.
std::string program_report(const Timeline& timeline);

/// The same as `"program": { ... }` of an object; nothing for captures of frames alone.
void add_program_report(Json& json, const Timeline& timeline);

}  // namespace corun

#pragma once

#include <string>

#include "experiments/base/json.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture says of GPUs, for people: which it was made on, how busy each was, what replay needs to know of
/// several GPUs, of kernels that wait for others, and of memory. Lines of `simcli info`.
std::string gpu_report(const Timeline& timeline);

/// The same as the fields `gpus` (a list) and `collective_ratio` of an open JSON object.
void add_gpu_report(Json& json, const Timeline& timeline);

}  // namespace corun

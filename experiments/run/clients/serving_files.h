#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/serving/requests.h"
#include "sim/serving/step_size.h"

namespace corun {

/// Reads a CSV file of requests: the columns `arrival_s`, `prompt` and `output`, or those of the Azure traces of
/// language models, `TIMESTAMP`, `ContextTokens` and `GeneratedTokens`, whose first request is at 0. Other columns are
/// ignored. Throws Error(kInput), located by its line, where a number is missing or an arrival goes back.
std::vector<ServedRequest> read_request_file(const std::string& path);

/// Reads a CSV log of an engine's steps, in order: `kind` (prefill, decode or mixed), `size` (tokens of prompts, or
/// sequences), `context`, `begin_s` and `end_s`; of mixed steps `decodes` and `decode_context`, of such of several
/// prompts `prompts`; other columns are ignored. Gives the median time of each size. A step
/// lasts until the next one begins, where that is soon after its end: what the host does in between belongs to the
/// loop. Throws Error(kInput), located by its line.
std::map<StepSize, Duration> read_step_times(const std::string& path);

}  // namespace corun

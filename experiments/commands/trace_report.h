#pragma once

#include <string>

#include "experiments/base/json.h"
#include "traces/timeline.h"

namespace corun {

/// What a capture holds and how far it can be trusted, for people.
std::string trace_report(const Timeline& timeline, const std::string& path);

/// The same as a JSON object with at least kernels, memops, frames, streams, span_ns, busy_ns and skipped. `output` is
/// where it was written to, "" = nowhere.
void add_trace_report(Json& json, const Timeline& timeline, const std::string& output);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "tracer/record/options.h"

namespace corun::record {

/// File that a command would execute, searched for as execvp does; "" where there is none.
std::string executable_of(const std::string& command);

/// Why nothing was recorded of a program, judging by its file: one sentence each, the likeliest first. Never empty.
std::vector<std::string> why_nothing_was_recorded(const RecordOptions& options);

}  // namespace corun::record

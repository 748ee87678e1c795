#pragma once

#include <string>

#include "experiments/commands/command_line.h"

namespace corun {

/// A capture, or a run of results.
struct TimelineChoice {
  std::string file;
  std::string run;  ///< of results, as find_run takes it; "" = the only one
};
void add_timeline_options(Command& command, TimelineChoice& options);

/// The timeline in the format that the ending of `output` names: .pftrace or .json.
std::string encode_timeline(const TimelineChoice& timeline, const std::string& output);

/// The last ending of a path in lower case: ".pftrace".
std::string ending_of(const std::string& path);
/// Throws Error(kInput): the ending of `path` names no format.
[[noreturn]] void refuse_ending(const std::string& path, const char* expected);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "sim/live/client/live_client.h"
#include "sim/live/live.h"

namespace corun::live {

/// What a client's owner should know of its run, after it: whether its launches came to the gate, how they were
/// intercepted, and what its figures leave out. One sentence each; none where all is as it should be. Once per run,
/// whatever happened how often.
std::vector<std::string> notes_of(const LiveClient& client, const gate::Lane& lane, const RunInput& input,
                                  const LiveOptions& options);

/// That a client left at `now`, where that needs saying: its command failed (`ending`, as Program::ending()), or
/// nothing of it is measured since it ended within the warm-up. Else "".
std::string note_of_leaving(const std::string& client, const std::string& ending, Time now, Duration warmup);

}  // namespace corun::live

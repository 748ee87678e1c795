#pragma once

#include <string>

#include "experiments/advise/figures/server_share.h"

namespace corun {

/// "chat: TTFT 35.1 (16.7 to 43.5) of 500 ms, TPOT 14.0 (12.1 to 20.2) of 50 ms", the 99th percentiles. With `is_short`
/// without bands.
std::string server_text(const std::string& server, const ServerShare& share, bool is_short = false);

/// A promise that is not surely kept: "chat's p99 TTFT is 300.1 (120.3 to 612.0) ms, promised 500".
std::string promise_text(const std::string& server, const PromisedFigure& figure);

/// "300.1 (120.3 to 612.0)", or "300.1 (no band)", or "no answer".
std::string p99_text(const PromisedFigure& figure);

/// What a server promises and does not keep even without neighbours: "chat misses its promises even alone: TTFT 612.0
/// of 500 ms"; "" where it keeps them.
std::string alone_text(const std::string& server, const ServerShare& alone);

}  // namespace corun

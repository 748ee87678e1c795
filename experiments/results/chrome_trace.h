#pragma once

#include <string>

#include "traces/exporters/tracks.h"

namespace corun {

/// The tracks as Chrome's JSON trace ("traceEvents"), which chrome://tracing, Perfetto and many scripts read: a
/// complete event (X) for each slice, an instant (i) for what takes no time, arrows (s, f) where two events share a
/// flow, names of processes and threads as metadata. Times are in microseconds with three decimals, from the earliest
/// on; a track's second row is a thread of its own. The same tracks give the same bytes.
std::string encode_chrome(const Tracks& tracks);

}  // namespace corun

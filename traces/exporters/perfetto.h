#pragma once

#include <string>

#include "traces/timeline.h"

namespace corun {

/// The timeline as a Perfetto trace (`.pftrace`: TrackEvent packets), for ui.perfetto.dev and trace_processor.
///
/// A process is a process track; below it are its threads with calls or marks, a track for each queue of the device,
/// and each swap chain: its frames from present to present (the first from its submission), the GPU's span of each
/// where that shows more than the queue does, and the draws of frames whose composition was sampled. Frames are
/// numbered from 1 in each program, and their visits and spans carry the number. What overlaps on a queue goes to
/// another row of its track.
///
/// Everything is on one axis. Arrows lead from a call to the first operation that it submitted and from a frame to its
/// visits, always from the earlier to the later one. Kernels go by short names; full names, launch shapes, bytes and
/// graph nodes are annotations. What the capture notes is an instant at its start. What takes no time is an instant.
/// Times are CLOCK_MONOTONIC where the timeline's clock is, else they begin at 0. The same timeline gives the same
/// bytes.
std::string encode_perfetto(const Timeline& timeline);

class Tracks;
/// The same of other tracks than a timeline's.
std::string encode_perfetto(const Tracks& tracks);

}  // namespace corun

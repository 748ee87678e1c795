#pragma once

#include "tracer/gate/gate.h"

namespace corun::gate {

/// The one gate of this process.
extern Gate process_gate;

/// Starts it, once, where the environment names a gate. `take_calls` makes the calls of the driver come to it, and
/// returns why it cannot; `leave_calls` takes that back, where the launches are not to be had.
void start_process_gate(Interception interception, Obstacle (*take_calls)(), void (*leave_calls)());

/// Whether the preload is in a call of the driver on this thread: then the driver was called through it.
bool is_in_preload();

}  // namespace corun::gate

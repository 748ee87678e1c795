#pragma once

#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// The life of a worker process: it takes a context on the device, measures what its launch shapes cost, then hands
/// every command to the driver as it comes, in order, until it is asked to end. One thread, which never sleeps while
/// commands may come: give it a processor of its own.
///
/// An error is left in the channel (state kFailed, error). Returns the exit code.
int run_worker(Channel& channel);

}  // namespace corun::executor

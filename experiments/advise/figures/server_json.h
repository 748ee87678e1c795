#pragma once

#include "experiments/advise/figures/server_share.h"
#include "experiments/base/json.h"

namespace corun {

/// Fields of the object at hand: figures with their bands, and the state of each promise.
void add_server(Json& json, const ServerShare& server);

}  // namespace corun

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/question/clients/client_choice.h"
#include "sim/serving/server.h"

namespace corun {

/// The server that `client.server` describes, for a run of `horizon`: its requests are read or drawn.
///
/// Throws Error(kInput), located in the experiment or in the file of requests, where it cannot be served as stated: no
/// step of a kind was captured; batch, chunk or contexts reach beyond the captured sizes; a request does not fit into
/// the KV cache.
std::shared_ptr<const ServerSpec> server_of(const ClientChoice& client, const std::vector<CapturedStep>& steps,
                                            Duration horizon, std::uint64_t seed);

}  // namespace corun

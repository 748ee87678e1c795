#pragma once

#include "experiments/question/clients/client_fields.h"

namespace corun {

/// Reads `server:`: what a client's engine is configured with, and the requests that come.
void read_server(const Node& node, ClientReading& out, ScalarReader& read);

/// Nothing for a client that is no server.
void write_server(const ClientChoice& client, CanonicalLines& lines);

/// What a server's other keys must be, once the client `node` is read. Its capture's jobs are the steps of the engine.
void settle_server(const Node& node, ClientChoice& out, ScalarReader& read);

}  // namespace corun

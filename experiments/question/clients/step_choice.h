#pragma once

#include "experiments/question/clients/client_fields.h"

namespace corun {

/// Reads what a step of the client's capture is: `whole`, or one of `{ range: NAME }`, `{ kernel: NAME }` and
/// `{ launches: N }`.
void read_step(const Node& node, ClientReading& out, ScalarReader& read);

/// Nothing where the client does not say.
void write_step(const ClientChoice& client, CanonicalLines& lines);

}  // namespace corun

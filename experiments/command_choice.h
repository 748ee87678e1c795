#pragma once

#include "experiments/client_choice.h"

namespace corun {

/// The keys of what a live run starts for a client: `command`, `environment` and `working_folder`.
void read_command(const Node& node, ClientReading& out, ScalarReader& read);
void read_environment(const Node& node, ClientReading& out, ScalarReader& read);
void read_working_folder(const Node& node, ClientReading& out, ScalarReader& read);

}  // namespace corun

#pragma once

#include "experiments/question/clients/client_fields.h"

namespace corun {

/// The keys of what a live run starts for a client: `command`, `environment` and `working_folder`.
void read_command(const Node& node, ClientReading& out, ScalarReader& read);
void read_environment(const Node& node, ClientReading& out, ScalarReader& read);
void read_working_folder(const Node& node, ClientReading& out, ScalarReader& read);

/// Whether there is a file that may be run where a program of this name, started in this folder ("" = ours), is looked
/// for: in the folders of our PATH, or where a slash in it says.
bool is_runnable(const std::string& program, const std::string& working_folder);

}  // namespace corun

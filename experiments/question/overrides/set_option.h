#pragma once

#include <string>
#include <vector>

#include "experiments/base/yaml.h"

namespace corun {

/// Applies `--set path=value` options to a document, in order.
///
/// A path is made of keys, `[index]` and, for items of a list, names: `clients.game.pacing=60fps` is the client whose
/// `name` is game, `policies.pilotfish.margin=300us` or `policies[0].margin=300us` a parameter of that policy. Keys
/// that are not there are added; a policy of the top level needs no `policies.` in front of its name; the value is
/// YAML. Locations are `<command line>:N:column` for the N-th option.
void apply_set_options(Node& root, const std::vector<std::string>& options, Diagnostics& diagnostics);

/// Puts a value at such a path, which stands at `where`. False after a diagnostic.
bool set_value(Node& root, const std::string& path, const SourceLocation& where, Node value, Diagnostics& diagnostics);

/// What an item of a list is called in paths; "" if nothing.
std::string name_of_item(const Node& item);

}  // namespace corun

#pragma once

#include <string>
#include <vector>

#include "experiments/yaml.h"

namespace corun {

/// Applies `--set path=value` options to a document, in order.
///
/// A path is made of keys, `[index]` and, for items of a list, names: `clients.game.pacing=60fps` is the client whose
/// `name` is game, `policies.pilotfish.margin=300us` or `policies[0].margin=300us` a parameter of that policy. Keys
/// that are not there are added; the value is YAML. Locations are `<command line>:N:column` for the N-th option.
void apply_set_options(Node& root, const std::vector<std::string>& options, Diagnostics& diagnostics);

}  // namespace corun

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/fields.h"

namespace corun {

/// Reads one item of `policies:`: a name, `{ name: { parameter: value } }` or `{ plugin: { file, name, parameters } }`,
/// each with an optional `as: label`. Plug-ins are loaded into `registry`. nullopt after a diagnostic.
std::optional<PolicyChoice> read_policy(const Node& node, const std::string& folder, PolicyRegistry& registry,
                                        ScalarReader& reader);

}  // namespace corun

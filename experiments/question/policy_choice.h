#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/fields.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// A policy with its parameters complete.
struct PolicyChoice {
  std::string label;   ///< in tables, results and expectations; unique in its scenario
  std::string policy;  ///< name in the registry
  Parameters parameters;
  SourceLocation where;
  std::string plugin;                     ///< path of the shared library it came from; empty = built in
  std::vector<Adjustment> adjustments{};  ///< of its adjustable parameters, in order of time
};

/// Reads one item of `policies:`: a name, `{ name: { parameter: value } }` or `{ plugin: { file, name, parameters } }`,
/// each with an optional `as: label` and `adjust: [{ at: time, parameter: value }]`. Plug-ins are loaded into
/// `registry`. nullopt after a diagnostic.
std::optional<PolicyChoice> read_policy(const Node& node, const std::string& folder, PolicyRegistry& registry,
                                        ScalarReader& reader);

}  // namespace corun

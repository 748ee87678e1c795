#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// "did you mean `passthrough` (the driver's own time slices)?" of "time-slicing": what others call a policy that has
/// another name here. Empty where nothing is called so.
std::string policy_meant_by(std::string_view name);

}  // namespace corun

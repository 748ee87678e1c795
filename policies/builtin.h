#pragma once

#include "sim/policy/descriptor.h"

namespace corun {

/// The policies of this folder, one function each; their rules, sources and departures are described in the file of
/// the same name and in README.md.
PolicyDescriptor passthrough_policy();
PolicyDescriptor exclusive_policy();
PolicyDescriptor pilotfish_policy();
PolicyDescriptor djay_policy();
PolicyDescriptor nvshare_policy();
PolicyDescriptor gaiagpu_policy();

/// Adds them all. Throws Error(kInput) if the registry already has a policy of one of these names.
void add_builtin_policies(PolicyRegistry& registry);

}  // namespace corun

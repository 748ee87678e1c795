#pragma once

#include <string>

#include "sim/policy/descriptor.h"

namespace corun {

/// Loads a policy from a shared library that exports `corun_policy_plugin` (sim/policy/descriptor.h).
///
/// The library runs inside this process and stays loaded until the process ends, since policies made by it may live
/// that long. `path` must contain a `/` (no search path decides what is run) and name a regular file, not world
/// writable. Throws Error(kInput) where it cannot be loaded or is no policy, Error(kUnsupported) naming both numbers
/// where it was built for another version of the interface.
PolicyDescriptor load_policy_plugin(const std::string& path);

}  // namespace corun

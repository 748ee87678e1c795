#pragma once

#include <string>

#include "sim/policy/descriptor.h"

namespace corun {

/// What a policy cannot work without, in words: "frame events, predictions", or "nothing".
std::string needs_text(const PolicyDescriptor& policy);

/// The page README.md of this folder: every policy of the registry with its source, parameters, needs and departures.
std::string policy_catalogue_markdown(const PolicyRegistry& registry);

}  // namespace corun

#pragma once

#include <string>
#include <string_view>

namespace corun {

/// "did you mean `passthrough` (the driver's own time slices)?" of "time-slicing": what others call a policy that has
/// another name here. Empty where nothing is called so.
std::string policy_meant_by(std::string_view name);

}  // namespace corun

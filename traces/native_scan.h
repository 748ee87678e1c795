#pragma once

#include <string>
#include <string_view>

#include "traces/native.h"

namespace corun {

/// Goes through a native file once: puts all rows before the first damage into the builder, and looks for readable
/// chunks behind it only to say how much there is. Throws Error(kUnsupported) for a newer version of the format.
NativeReport scan_native(std::string_view file, const std::string& path, TimelineBuilder& builder);

}  // namespace corun

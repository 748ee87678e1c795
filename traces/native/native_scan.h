#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "traces/native/native.h"

namespace corun {

/// Goes through a native file once: puts all rows before the first damage into the builder, and looks for readable
/// chunks behind it only to say how much there is. Throws Error(kUnsupported) for a newer version of the format.
/// `on_read` is called after each chunk with the byte up to which the file will not be looked at again.
NativeReport scan_native(std::string_view file, const std::string& path, TimelineBuilder& builder,
                         const std::function<void(std::uint64_t)>& on_read = {});

}  // namespace corun

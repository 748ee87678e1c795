#pragma once

#include <optional>
#include <string>

#include "traces/timeline.h"

namespace corun {

/// What the thread had of the CPU that ran most, of those that call the driver; nullopt where none was watched.
std::optional<HostUse> busiest_thread(const Provenance& provenance);

/// Whether it waited for a core so long that the host's gaps in the capture are longer than on a free host: 5 % of the
/// time.
bool lacked_cores(const HostUse& use);

/// "its thread ran 98.1 % of the time and waited for a core 0.4 % of it".
std::string to_text(const HostUse& use);

}  // namespace corun

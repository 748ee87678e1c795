#pragma once

#include <optional>

#include "sim/device/device_model.h"
#include "sim/workload/client_spec.h"

namespace corun {

/// What the client's operations draw on a device with a power limit, from the mean power of the device while the
/// program ran alone on one of its kind: what is above the idle power, over the part of the time in which its
/// operations ran. `stated` are means that its owner read while it ran without a recorder, at `jobs_per_s` where that
/// is known; without them those of the capture count. A clock below the full one counts where the mean is no more than
/// a tenth below the limit: else the device idled and was not held back. Nothing (0 W) where neither is there, nothing
/// ran, or the mean is not above the idle power.
PowerDraw power_draw(const ClientSpec& client, const std::optional<PowerMean>& stated, double jobs_per_s,
                     const DeviceSpec& device);

}  // namespace corun

#pragma once

#include <string>

#include "experiments/base/fields.h"
#include "experiments/question/device_file.h"
#include "sim/device/spec.h"

namespace corun {

/// Reads an experiment's `device:`, a model's name or `{ model or file, and any key of a device file as an override }`,
/// over `device`: what is not given stays. A model is looked for among the built-in device files. Spreads are those of
/// the values that stay as their file has them.
void read_device(const Node& node, const std::string& folder, DeviceSpec& device, DeviceFacts& facts,
                 ScalarReader& reader);

/// Every number of a device, one `key=value` a line in the order of the keys: equal text means equal device.
std::string device_text(const DeviceSpec& device);

}  // namespace corun

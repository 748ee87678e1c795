#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/fields.h"
#include "sim/device/spec.h"

namespace corun {

/// The keys of a device: in a device file each is `{ value, source }`, in an experiment's `device:` a plain value that
/// overrides the file's.
const FieldTable<DeviceSpec>& device_fields();

/// A device with what is known about the origin of its numbers.
struct DeviceFile {
  DeviceSpec spec;
  std::string description;
  std::map<std::string, std::string> sources;  ///< by key
};

/// Reads a device file (experiments/devices/*.yaml). Every number must name its source; keys that are not given keep
/// the defaults of DeviceSpec. Throws InvalidInput.
DeviceFile read_device_file(std::string_view text, const std::string& file);

/// The device files that are built in, by model name ("h200"), in alphabetical order.
struct BuiltinDevice {
  std::string_view model;
  std::string_view text;
};
std::vector<BuiltinDevice> builtin_devices();

}  // namespace corun

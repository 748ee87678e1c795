#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/base/fields.h"
#include "sim/device/spec.h"

namespace corun {

/// The keys of a device: in a device file each is `{ value, source }`, in an experiment's `device:` a plain value that
/// overrides the file's.
const FieldTable<DeviceSpec>& device_fields();

/// Ranges of what was measured for keys of a device, as their file writes them: "2.095ms to 2.099ms"; by key.
using DeviceSpreads = std::map<std::string, std::string, std::less<>>;

/// A kind of instance that a device with MIG is cut into.
struct MigProfile {
  std::string name;          ///< "1g.10gb"
  std::uint32_t slices = 0;  ///< of compute, out of 7
  std::uint32_t sms = 0;
  std::uint64_t memory_bytes = 0;     ///< usable by programs, their contexts included
  std::uint32_t memory_slices = 0;    ///< out of 8
  std::vector<std::uint32_t> begins;  ///< memory slices at which it may begin
};

/// What is known about a device in addition to its numbers.
struct DeviceFacts {
  DeviceSpreads spreads;
  bool is_measured = true;  ///< false: no program was ever measured on it to compare with
  /// Its file says of its time slice that it was measured, and no law of the device is overridden.
  bool has_measured_laws = false;
  std::vector<MigProfile> mig;  ///< smallest first; empty = it has no MIG
};

/// A device with what is known about the origin of its numbers.
struct DeviceFile {
  DeviceSpec spec;
  std::string description;
  std::map<std::string, std::string> sources;  ///< by key
  DeviceFacts facts;
};

/// One key of a device file, as it is written there: `key: { value, source }`, with the range of what was measured
/// where it is known.
struct DeviceLine {
  std::string key;
  std::string value;
  std::string source;
  std::string spread{};  ///< "2.095ms to 2.099ms"; "" = not said
};

/// Reads a device file (experiments/devices/*.yaml). Every number must name its source; keys that are not given keep
/// the defaults of DeviceSpec; a file that does not say `measured: no` counts as measured. Throws InvalidInput.
DeviceFile read_device_file(std::string_view text, const std::string& file);

/// The keys of a device file in their order there. Throws as read_device_file() does.
std::vector<DeviceLine> read_device_lines(std::string_view text, const std::string& file);

/// A device file with these lines, in the order of device_fields(): what read_device_file() reads.
std::string device_file_text(const std::string& name, const std::string& description,
                             const std::vector<DeviceLine>& lines);

/// The device files that are built in, by model name ("h200"), in alphabetical order.
struct BuiltinDevice {
  std::string_view model;
  std::string_view text;
};
std::vector<BuiltinDevice> builtin_devices();

}  // namespace corun

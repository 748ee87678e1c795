#include "experiments/run/clients/captured_gpu.h"

#include <algorithm>
#include <cmath>

#include "experiments/question/clients/gpu_model.h"

namespace corun {

namespace {

/// As its name says, else by its memory.
double gigabytes_of(const CapturedDevice& captured) {
  const double stated = gigabytes_in(captured.name);
  return stated > 0 ? stated : static_cast<double>(captured.memory_bytes) / static_cast<double>(1U << 30);
}

/// Parts of one model with more or less memory have another bandwidth.
bool have_other_memory(const CapturedDevice& captured, std::string_view device) {
  constexpr double kSame = 0.2;
  const double of_capture = gigabytes_of(captured), of_device = gigabytes_in(device);
  return of_capture > 0 && of_device > 0 && std::fabs(of_capture - of_device) > kSame * of_device;
}

bool is_builtin(const DeviceSpec& device) {
  const auto devices = builtin_devices();
  return std::ranges::find(devices, device.name, &BuiltinDevice::model) != devices.end();
}

}  // namespace

bool is_another_gpu(const CapturedDevice& captured, const DeviceSpec& device) {
  if (captured.sm_count != 0 && captured.sm_count != device.sm_count) return true;
  if (!is_builtin(device) || captured.name.empty()) return false;
  return gpu_model(captured.name) != gpu_model(device.name) || have_other_memory(captured, device.name);
}

std::string builtin_model_of(const CapturedDevice& captured) {
  if (captured.name.empty()) return "";
  for (const BuiltinDevice& builtin : builtin_devices()) {
    const DeviceSpec device = read_device_file(builtin.text, std::string(builtin.model)).spec;
    if (!is_another_gpu(captured, device)) return device.name;
  }
  return "";
}

}  // namespace corun

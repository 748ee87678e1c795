#pragma once

#include <string.h>
#include <vulkan/vulkan.h>

#include <cstdint>

#include "tracer/vulkan/next_layer.h"

namespace corun::vulkan {

/// What must be enabled for calibrated timestamps and the program did not enable, or null: of an instance older than
/// Vulkan 1.1, and of a device that can read its clock together with CLOCK_MONOTONIC.
const char* extension_for_clocks(const VkInstanceCreateInfo& info);
const char* extension_for_clocks(const NextInstance& next, VkPhysicalDevice device, const VkDeviceCreateInfo& info);

/// True where the program itself enables calibrated timestamps on such a device.
bool enables_clocks(const NextInstance& next, VkPhysicalDevice device, const VkDeviceCreateInfo& info);

/// True where the program enables the extension; Request is VkInstanceCreateInfo or VkDeviceCreateInfo.
template <class Request>
bool is_enabled(const Request& info, const char* extension) {
  for (std::uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    if (strcmp(info.ppEnabledExtensionNames[i], extension) == 0) return true;
  }
  return false;
}

}  // namespace corun::vulkan

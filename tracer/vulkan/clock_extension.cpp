#include "tracer/vulkan/clock_extension.h"

#include <stdlib.h>

namespace corun::vulkan {
namespace {

bool has_extension(const NextInstance& next, VkPhysicalDevice device, const char* wanted) {
  std::uint32_t count = 0;
  if (next.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return false;
  auto* found = static_cast<VkExtensionProperties*>(calloc(count + 1, sizeof(VkExtensionProperties)));
  if (found == nullptr) return false;
  bool has = false;
  if (next.EnumerateDeviceExtensionProperties(device, nullptr, &count, found) >= VK_SUCCESS) {
    for (std::uint32_t i = 0; i < count; ++i) has = has || strcmp(found[i].extensionName, wanted) == 0;
  }
  free(found);
  return has;
}

bool has_both_clocks(const NextInstance& next, VkPhysicalDevice device) {
  VkTimeDomainEXT domains[16] = {};
  std::uint32_t count = 16;
  if (next.GetPhysicalDeviceCalibrateableTimeDomains == nullptr) return false;
  if (next.GetPhysicalDeviceCalibrateableTimeDomains(device, &count, domains) < VK_SUCCESS) return false;
  bool has_device = false, has_monotonic = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    has_device = has_device || domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
    has_monotonic = has_monotonic || domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
  }
  return has_device && has_monotonic;
}

bool names_clocks(const VkDeviceCreateInfo& info) {
  return is_enabled(info, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
         is_enabled(info, "VK_KHR_calibrated_timestamps");
}

}  // namespace

const char* extension_for_clocks(const VkInstanceCreateInfo& info) {
  constexpr const char* kName = VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME;
  const bool is_old = info.pApplicationInfo == nullptr || info.pApplicationInfo->apiVersion < VK_API_VERSION_1_1;
  return is_old && !is_enabled(info, kName) ? kName : nullptr;
}

const char* extension_for_clocks(const NextInstance& next, VkPhysicalDevice device, const VkDeviceCreateInfo& info) {
  constexpr const char* kName = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
  if (names_clocks(info) || !has_extension(next, device, kName)) return nullptr;
  return has_both_clocks(next, device) ? kName : nullptr;
}

bool enables_clocks(const NextInstance& next, VkPhysicalDevice device, const VkDeviceCreateInfo& info) {
  return names_clocks(info) && has_both_clocks(next, device);
}

}  // namespace corun::vulkan

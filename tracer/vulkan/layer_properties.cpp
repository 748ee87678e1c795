#include "tracer/vulkan/layer_properties.h"

#include <string.h>

#include "tracer/vulkan/chain.h"

namespace corun::vulkan {
namespace {

constexpr VkLayerProperties kLayer = {"VK_LAYER_CORUN_trace", VK_MAKE_API_VERSION(0, 1, 3, 239), 1,
                                      "Corun: when frames were submitted, worked on and presented"};

VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(std::uint32_t* count, VkLayerProperties* layers) {
  if (layers == nullptr) {
    *count = 1;
    return VK_SUCCESS;
  }
  if (*count == 0) return VK_INCOMPLETE;
  layers[0] = kLayer;
  *count = 1;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_device_layers(VkPhysicalDevice, std::uint32_t* count,
                                                       VkLayerProperties* layers) {
  return enumerate_layers(count, layers);
}

bool is_this(const char* layer) { return layer != nullptr && strcmp(layer, kLayer.layerName) == 0; }

VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(const char* layer, std::uint32_t* count, VkExtensionProperties*) {
  if (!is_this(layer)) return VK_ERROR_LAYER_NOT_PRESENT;
  *count = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_device_extensions(VkPhysicalDevice device, const char* layer,
                                                           std::uint32_t* count, VkExtensionProperties* extensions) {
  if (is_this(layer)) return enumerate_extensions(layer, count, extensions);
  const Instance* instance = find_instance(device);
  if (instance == nullptr) return VK_ERROR_LAYER_NOT_PRESENT;
  return instance->next.EnumerateDeviceExtensionProperties(device, layer, count, extensions);
}

}  // namespace

PFN_vkVoidFunction properties_hook(const char* name) {
  const struct {
    const char* name;
    PFN_vkVoidFunction function;
  } hooks[] = {
      {"vkEnumerateInstanceLayerProperties", reinterpret_cast<PFN_vkVoidFunction>(enumerate_layers)},
      {"vkEnumerateDeviceLayerProperties", reinterpret_cast<PFN_vkVoidFunction>(enumerate_device_layers)},
      {"vkEnumerateInstanceExtensionProperties", reinterpret_cast<PFN_vkVoidFunction>(enumerate_extensions)},
      {"vkEnumerateDeviceExtensionProperties", reinterpret_cast<PFN_vkVoidFunction>(enumerate_device_extensions)},
  };
  for (const auto& hook : hooks) {
    if (strcmp(hook.name, name) == 0) return hook.function;
  }
  return nullptr;
}

}  // namespace corun::vulkan

#include "tracer/vulkan/chain.h"

#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>

#include "tracer/guest/kept_errno.h"
#include "tracer/guest/settings.h"
#include "tracer/vulkan/clock_extension.h"
#include "tracer/vulkan/object_table.h"

namespace corun::vulkan {
namespace {

constinit ObjectTable<Instance, 64> instances;
constinit ObjectTable<Device, 64> devices;
constinit guest::FrameLog the_log;

template <class Link>
Link* find_link(const void* chain, VkStructureType type, VkLayerFunction function) {
  const auto* found = reinterpret_cast<const Link*>(find_in_chain(chain, type));
  while (found != nullptr && found->function != function) {
    found = reinterpret_cast<const Link*>(find_in_chain(found->pNext, type));
  }
  return const_cast<Link*>(found);  // the loader's own, meant to be moved on by every layer
}

// Work for several devices at once counts command buffers per device, and protected work forbids foreign ones.
bool may_time(const VkDeviceCreateInfo& info) {
  const auto* group = reinterpret_cast<const VkDeviceGroupDeviceCreateInfo*>(
      find_in_chain(info.pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO));
  return group == nullptr || group->physicalDeviceCount <= 1;
}

DeviceTraits traits_of(const NextInstance& next, VkPhysicalDevice physical_device, const VkDeviceCreateInfo& info) {
  DeviceTraits traits;
  VkPhysicalDeviceProperties properties;
  next.GetPhysicalDeviceProperties(physical_device, &properties);
  traits.is_traced = true;
  traits.api_version = properties.apiVersion;
  traits.timestamp_period_ns = static_cast<double>(properties.limits.timestampPeriod);
  memcpy(traits.name, properties.deviceName, sizeof(traits.name));

  VkQueueFamilyProperties families[DeviceTraits::kMostFamilies] = {};
  std::uint32_t count = 0;
  next.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, nullptr);
  if (count > DeviceTraits::kMostFamilies) count = DeviceTraits::kMostFamilies;
  next.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, families);
  for (std::uint32_t i = 0; i < count && may_time(info); ++i) {
    // Queries cannot be reset on a queue that can only copy.
    const bool can_reset = (families[i].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) != 0;
    traits.timestamp_bits[i] = can_reset ? families[i].timestampValidBits : 0;
  }
  return traits;
}

// Creates the object one layer down, with one extension more if that is wanted and goes well; `extension` is null
// afterwards where it was created without.
template <class Request, class Link, class Create>
VkResult create_below(const Request& info, const char*& extension, Link* link, Create create) {
  auto* const below = link->u.pLayerInfo->pNext;
  const std::uint32_t count = info.enabledExtensionCount;
  auto** extensions = extension == nullptr ? nullptr : static_cast<const char**>(calloc(count + 1, sizeof(char*)));
  VkResult result = VK_NOT_READY;
  if (extensions != nullptr) {
    for (std::uint32_t i = 0; i < count; ++i) extensions[i] = info.ppEnabledExtensionNames[i];
    extensions[count] = extension;
    Request more = info;
    more.ppEnabledExtensionNames = extensions;
    more.enabledExtensionCount = count + 1;
    link->u.pLayerInfo = below;
    result = create(more);
    free(extensions);
  }
  if (result == VK_SUCCESS) return result;
  extension = nullptr;
  link->u.pLayerInfo = below;  // the layers below have moved it on
  return create(info);
}

}  // namespace

Instance* find_instance(const void* dispatchable) { return instances.find(dispatch_key(dispatchable)); }

Device* find_device(const void* dispatchable) { return devices.find(dispatch_key(dispatchable)); }

guest::FrameLog& frame_log() { return the_log; }

bool may_record() {
  static int answer = -1;
  int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
  if (known >= 0) return known != 0;
  const guest::KeptErrno kept;
  const guest::Settings settings = guest::read_settings();
  known = settings.directory[0] != '\0' && settings.vulkan ? 1 : 0;
  __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
  return known != 0;
}

bool wants_frames() { return may_record() || may_be_gated(); }

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                         VkInstance* instance) {
  auto* link = find_link<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                                    VK_LAYER_LINK_INFO);
  if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(VK_NULL_HANDLE, "vkCreateInstance"));
  Instance* taken = create == nullptr ? nullptr : instances.take();
  if (taken == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
  const char* extension = may_record() ? extension_for_clocks(*info) : nullptr;
  const VkResult result = create_below(
      *info, extension, link, [&](const VkInstanceCreateInfo& asked) { return create(&asked, allocator, instance); });
  const guest::KeptErrno kept;
  if (result != VK_SUCCESS) {
    instances.give_back(taken);
    return result;
  }
  taken->handle = *instance;
  taken->next.load(*instance, get);
  instances.publish(taken, dispatch_key(*instance));
  return result;
}

void destroy_instance(VkInstance handle, const VkAllocationCallbacks* allocator) {
  Instance* instance = handle == VK_NULL_HANDLE ? nullptr : find_instance(handle);
  if (instance == nullptr) return;
  const PFN_vkDestroyInstance destroy = instance->next.DestroyInstance;
  instances.hide(instance);
  instances.give_back(instance);
  destroy(handle, allocator);
}

VkResult create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* handle) {
  Instance* instance = find_instance(physical_device);
  auto* link =
      find_link<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, VK_LAYER_LINK_INFO);
  const auto* callback = find_link<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                                            VK_LOADER_DATA_CALLBACK);
  if (instance == nullptr || link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const VkLayerDeviceLink below = *link->u.pLayerInfo;
  const auto create =
      reinterpret_cast<PFN_vkCreateDevice>(below.pfnNextGetInstanceProcAddr(instance->handle, "vkCreateDevice"));
  Device* device = create == nullptr ? nullptr : devices.take();
  if (device == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;

  DeviceTraits traits;
  const char* extension = nullptr;
  if (wants_frames() && is_enabled(*info, VK_KHR_SWAPCHAIN_EXTENSION_NAME)) {
    const guest::KeptErrno kept;
    traits = traits_of(instance->next, physical_device, *info);
    if (may_record()) extension = extension_for_clocks(instance->next, physical_device, *info);
  }
  const VkResult result = create_below(*info, extension, link, [&](const VkDeviceCreateInfo& asked) {
    return create(physical_device, &asked, allocator, handle);
  });
  const guest::KeptErrno kept;
  if (result != VK_SUCCESS) {
    devices.give_back(device);
    return result;
  }
  NextDevice next;
  next.load(*handle, below.pfnNextGetDeviceProcAddr);
  const bool has_clock =
      extension != nullptr || (traits.is_traced && enables_clocks(instance->next, physical_device, *info));
  if (callback != nullptr) traits.set_loader_data = callback->u.pfnSetDeviceLoaderData;
  if (callback != nullptr && has_clock) traits.read_clocks = next.GetCalibratedTimestamps;
  device->open(*handle, next, traits, the_log);
  devices.publish(device, dispatch_key(*handle));
  return result;
}

void destroy_device(VkDevice handle, const VkAllocationCallbacks* allocator) {
  Device* device = handle == VK_NULL_HANDLE ? nullptr : find_device(handle);
  if (device == nullptr) return;
  const PFN_vkDestroyDevice destroy = device->next().DestroyDevice;
  device->close();
  devices.hide(device);
  devices.give_back(device);
  destroy(handle, allocator);
}

void flush_devices_at_exit() {
  devices.for_each([](Device& device) { device.flush_at_exit(); });
}

}  // namespace corun::vulkan

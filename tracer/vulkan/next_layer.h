#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

namespace corun::vulkan {

/// The functions of an instance one layer down, as far as this layer calls them. Absent ones are null.
struct NextInstance {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
  PFN_vkDestroyInstance DestroyInstance;
  PFN_vkGetPhysicalDeviceProperties GetPhysicalDeviceProperties;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties GetPhysicalDeviceQueueFamilyProperties;
  PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties;
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT GetPhysicalDeviceCalibrateableTimeDomains;

  void load(VkInstance instance, PFN_vkGetInstanceProcAddr get);
};

/// The functions of a device one layer down, as far as this layer calls them. Absent ones are null.
struct NextDevice {
  PFN_vkGetDeviceProcAddr GetDeviceProcAddr;
  PFN_vkDestroyDevice DestroyDevice;
  PFN_vkGetDeviceQueue GetDeviceQueue;
  PFN_vkGetDeviceQueue2 GetDeviceQueue2;
  PFN_vkQueueSubmit QueueSubmit;
  PFN_vkQueueSubmit2 QueueSubmit2;
  PFN_vkQueueSubmit2 QueueSubmit2KHR;
  PFN_vkQueuePresentKHR QueuePresentKHR;
  PFN_vkCreateSwapchainKHR CreateSwapchainKHR;
  PFN_vkDestroySwapchainKHR DestroySwapchainKHR;
  PFN_vkCreateQueryPool CreateQueryPool;
  PFN_vkDestroyQueryPool DestroyQueryPool;
  PFN_vkGetQueryPoolResults GetQueryPoolResults;
  PFN_vkCreateCommandPool CreateCommandPool;
  PFN_vkDestroyCommandPool DestroyCommandPool;
  PFN_vkAllocateCommandBuffers AllocateCommandBuffers;
  PFN_vkBeginCommandBuffer BeginCommandBuffer;
  PFN_vkEndCommandBuffer EndCommandBuffer;
  PFN_vkCmdResetQueryPool CmdResetQueryPool;
  PFN_vkCmdWriteTimestamp CmdWriteTimestamp;
  PFN_vkCreateFence CreateFence;
  PFN_vkDestroyFence DestroyFence;
  PFN_vkGetFenceStatus GetFenceStatus;
  PFN_vkGetCalibratedTimestampsEXT GetCalibratedTimestamps;

  void load(VkDevice device, PFN_vkGetDeviceProcAddr get);
};

/// What the loader knows a dispatchable object by: an instance and its physical devices share one key, a device, its
/// queues and its command buffers another.
inline void* dispatch_key(const void* dispatchable) { return *static_cast<void* const*>(dispatchable); }

/// The structure of a type in a pNext chain, or null.
const VkBaseInStructure* find_in_chain(const void* chain, VkStructureType type);

}  // namespace corun::vulkan

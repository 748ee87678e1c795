#include "tracer/vulkan/next_layer.h"

namespace corun::vulkan {
namespace {

template <class Function, class Owner, class Get>
void find(Function& function, Owner owner, Get get, const char* name, const char* older_name = nullptr) {
  function = reinterpret_cast<Function>(get(owner, name));
  if (function == nullptr && older_name != nullptr) function = reinterpret_cast<Function>(get(owner, older_name));
}

}  // namespace

void NextInstance::load(VkInstance instance, PFN_vkGetInstanceProcAddr get) {
  GetInstanceProcAddr = get;
  find(DestroyInstance, instance, get, "vkDestroyInstance");
  find(GetPhysicalDeviceProperties, instance, get, "vkGetPhysicalDeviceProperties");
  find(GetPhysicalDeviceQueueFamilyProperties, instance, get, "vkGetPhysicalDeviceQueueFamilyProperties");
  find(EnumerateDeviceExtensionProperties, instance, get, "vkEnumerateDeviceExtensionProperties");
  find(GetPhysicalDeviceCalibrateableTimeDomains, instance, get, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT",
       "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR");
}

void NextDevice::load(VkDevice device, PFN_vkGetDeviceProcAddr get) {
  GetDeviceProcAddr = get;
  find(DestroyDevice, device, get, "vkDestroyDevice");
  find(GetDeviceQueue, device, get, "vkGetDeviceQueue");
  find(GetDeviceQueue2, device, get, "vkGetDeviceQueue2");
  find(QueueSubmit, device, get, "vkQueueSubmit");
  find(QueueSubmit2, device, get, "vkQueueSubmit2");
  find(QueueSubmit2KHR, device, get, "vkQueueSubmit2KHR");
  find(QueuePresentKHR, device, get, "vkQueuePresentKHR");
  find(CreateSwapchainKHR, device, get, "vkCreateSwapchainKHR");
  find(DestroySwapchainKHR, device, get, "vkDestroySwapchainKHR");
  find(CreateQueryPool, device, get, "vkCreateQueryPool");
  find(DestroyQueryPool, device, get, "vkDestroyQueryPool");
  find(GetQueryPoolResults, device, get, "vkGetQueryPoolResults");
  find(CreateCommandPool, device, get, "vkCreateCommandPool");
  find(DestroyCommandPool, device, get, "vkDestroyCommandPool");
  find(AllocateCommandBuffers, device, get, "vkAllocateCommandBuffers");
  find(BeginCommandBuffer, device, get, "vkBeginCommandBuffer");
  find(EndCommandBuffer, device, get, "vkEndCommandBuffer");
  find(CmdResetQueryPool, device, get, "vkCmdResetQueryPool");
  find(CmdWriteTimestamp, device, get, "vkCmdWriteTimestamp");
  find(CreateFence, device, get, "vkCreateFence");
  find(DestroyFence, device, get, "vkDestroyFence");
  find(GetFenceStatus, device, get, "vkGetFenceStatus");
  find(GetCalibratedTimestamps, device, get, "vkGetCalibratedTimestampsEXT", "vkGetCalibratedTimestampsKHR");
}

const VkBaseInStructure* find_in_chain(const void* chain, VkStructureType type) {
  const auto* found = static_cast<const VkBaseInStructure*>(chain);
  while (found != nullptr && found->sType != type) found = found->pNext;
  return found;
}

}  // namespace corun::vulkan

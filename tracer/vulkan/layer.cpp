#include <string.h>
#include <vulkan/vk_layer.h>

#include "tracer/gate/frame_gate.h"
#include "tracer/vulkan/chain.h"
#include "tracer/vulkan/layer_properties.h"
#include "tracer/vulkan/timed_submit.h"

// The functions that the loader and the layer above call instead of the next layer's, and how they find them.
namespace corun::vulkan {
namespace {

template <class Buffer, class Submit, class Next>
VkResult recorded_submit(VkQueue queue, std::uint32_t count, const Submit* submits, VkFence fence, Device& device,
                         Next next) {
  Device::Visit visit;
  if (!device.begin_visit(queue, visit)) return next(queue, count, submits, fence);
  TimedSubmit<Submit, Buffer> timed;
  const bool is_timed = visit.first != VK_NULL_HANDLE && timed.wrap(count, submits, visit.first, visit.last);
  visit.record.submit_ns = guest::monotonic_ns();
  const VkResult result = next(queue, count, is_timed ? timed.submits() : submits, fence);
  visit.record.submit_end_ns = guest::monotonic_ns();
  device.end_visit(visit, result, is_timed);
  return result;
}

template <class Buffer, class Submit, class Next>
VkResult submit(VkQueue queue, std::uint32_t count, const Submit* submits, VkFence fence, Device& device, Next next) {
  if (!has_work(count, submits)) return next(queue, count, submits, fence);
  const bool is_gated = device.gate_frames().before_submit();
  const VkResult result = recorded_submit<Buffer>(queue, count, submits, fence, device, next);
  if (is_gated && result == VK_SUCCESS) device.gate_frames().after_submit(queue);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* submits,
                                            VkFence fence) {
  Device& device = *find_device(queue);
  return submit<VkCommandBuffer>(queue, count, submits, fence, device, device.next().QueueSubmit);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(VkQueue queue, std::uint32_t count, const VkSubmitInfo2* submits,
                                             VkFence fence) {
  Device& device = *find_device(queue);
  return submit<VkCommandBufferSubmitInfo>(queue, count, submits, fence, device, device.next().QueueSubmit2);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit2_khr(VkQueue queue, std::uint32_t count, const VkSubmitInfo2* submits,
                                                 VkFence fence) {
  Device& device = *find_device(queue);
  return submit<VkCommandBufferSubmitInfo>(queue, count, submits, fence, device, device.next().QueueSubmit2KHR);
}

VkResult recorded_present(VkQueue queue, const VkPresentInfoKHR* info, Device& device) {
  constexpr std::uint32_t kMostResults = 16;
  const PFN_vkQueuePresentKHR next = device.next().QueuePresentKHR;
  if (!device.is_recording()) return next(queue, info);
  Device::Present present;
  device.begin_present(present);
  VkResult results[kMostResults];
  VkPresentInfoKHR asking = *info;
  const bool must_ask = info->pResults == nullptr && info->swapchainCount > 1 && info->swapchainCount <= kMostResults;
  if (must_ask) asking.pResults = results;
  present.present_ns = guest::monotonic_ns();
  const VkResult result = next(queue, &asking);
  present.present_end_ns = guest::monotonic_ns();
  device.end_present(present, result, asking, asking.pResults);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue queue, const VkPresentInfoKHR* info) {
  Device& device = *find_device(queue);
  const GateFrames::Present present = device.gate_frames().before_present(queue);
  const VkResult result = recorded_present(queue, info, device);
  device.gate_frames().after_present(present, was_presented(result));
  return result;
}

VKAPI_ATTR void VKAPI_CALL get_device_queue(VkDevice handle, std::uint32_t family, std::uint32_t index,
                                            VkQueue* queue) {
  Device& device = *find_device(handle);
  device.next().GetDeviceQueue(handle, family, index, queue);
  if (device.is_traced()) device.add_queue(*queue, family, true);
}

VKAPI_ATTR void VKAPI_CALL get_device_queue2(VkDevice handle, const VkDeviceQueueInfo2* info, VkQueue* queue) {
  Device& device = *find_device(handle);
  device.next().GetDeviceQueue2(handle, info, queue);
  const bool is_protected = (info->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) != 0;
  if (device.is_traced()) device.add_queue(*queue, info->queueFamilyIndex, !is_protected);
}

VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice handle, const VkSwapchainCreateInfoKHR* info,
                                                const VkAllocationCallbacks* allocator, VkSwapchainKHR* swapchain) {
  Device& device = *find_device(handle);
  const VkResult result = device.next().CreateSwapchainKHR(handle, info, allocator, swapchain);
  if (result == VK_SUCCESS && device.is_traced()) device.add_swapchain(*swapchain, info->imageExtent);
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice handle, VkSwapchainKHR swapchain,
                                             const VkAllocationCallbacks* allocator) {
  Device& device = *find_device(handle);
  if (device.is_traced() && swapchain != VK_NULL_HANDLE) device.remove_swapchain(swapchain);
  device.next().DestroySwapchainKHR(handle, swapchain, allocator);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char* name);

struct Hook {
  const char* name;
  PFN_vkVoidFunction function;
};

template <class Function>
PFN_vkVoidFunction as_void(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

// Without these the chain of layers would break; an instance needs no object for the first.
PFN_vkVoidFunction chain_hook(const char* name) {
  const Hook hooks[] = {
      {"vkCreateInstance", as_void(create_instance)},    {"vkGetInstanceProcAddr", as_void(get_instance_proc)},
      {"vkDestroyInstance", as_void(destroy_instance)},  {"vkCreateDevice", as_void(create_device)},
      {"vkGetDeviceProcAddr", as_void(get_device_proc)}, {"vkDestroyDevice", as_void(destroy_device)},
  };
  for (const Hook& hook : hooks) {
    if (strcmp(hook.name, name) == 0) return hook.function;
  }
  return nullptr;
}

PFN_vkVoidFunction frame_hook(const char* name) {
  const Hook hooks[] = {
      {"vkQueueSubmit", as_void(queue_submit)},
      {"vkQueueSubmit2", as_void(queue_submit2)},
      {"vkQueueSubmit2KHR", as_void(queue_submit2_khr)},
      {"vkQueuePresentKHR", as_void(queue_present)},
      {"vkGetDeviceQueue", as_void(get_device_queue)},
      {"vkGetDeviceQueue2", as_void(get_device_queue2)},
      {"vkCreateSwapchainKHR", as_void(create_swapchain)},
      {"vkDestroySwapchainKHR", as_void(destroy_swapchain)},
  };
  for (const Hook& hook : hooks) {
    if (strcmp(hook.name, name) == 0) return hook.function;
  }
  return nullptr;
}

PFN_vkVoidFunction get_instance_proc(VkInstance handle, const char* name) {
  if (const PFN_vkVoidFunction hook = chain_hook(name)) return hook;
  if (const PFN_vkVoidFunction hook = properties_hook(name)) return hook;
  Instance* instance = handle == VK_NULL_HANDLE ? nullptr : find_instance(handle);
  if (instance == nullptr) return nullptr;
  const PFN_vkVoidFunction next = instance->next.GetInstanceProcAddr(handle, name);
  const PFN_vkVoidFunction hook = wants_frames() ? frame_hook(name) : nullptr;
  return next != nullptr && hook != nullptr ? hook : next;
}

PFN_vkVoidFunction get_device_proc(VkDevice handle, const char* name) {
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) return as_void(get_device_proc);
  if (strcmp(name, "vkDestroyDevice") == 0) return as_void(destroy_device);
  Device* device = find_device(handle);
  if (device == nullptr) return nullptr;
  const PFN_vkVoidFunction next = device->next().GetDeviceProcAddr(handle, name);
  const PFN_vkVoidFunction hook = device->is_traced() ? frame_hook(name) : nullptr;
  return next != nullptr && hook != nullptr ? hook : next;
}

[[gnu::destructor]] void write_the_rest() {
  gate::frame_gate.stop();
  flush_devices_at_exit();
  frame_log().end(part::EndReason::kExit);
}

}  // namespace
}  // namespace corun::vulkan

extern "C" [[gnu::visibility("default")]] VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
  if (version == nullptr || version->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT) return VK_ERROR_INITIALIZATION_FAILED;
  if (version->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = corun::vulkan::get_instance_proc;
  version->pfnGetDeviceProcAddr = corun::vulkan::get_device_proc;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

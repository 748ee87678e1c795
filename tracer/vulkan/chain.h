#pragma once

#include <vulkan/vulkan.h>

#include "tracer/vulkan/device.h"
#include "tracer/vulkan/next_layer.h"

namespace corun::vulkan {

/// One instance of the program.
struct Instance {
  VkInstance handle;
  NextInstance next;
};

/// The live instances and devices, by dispatch key: finding takes no lock, adding and removing a short one.
Instance* find_instance(const void* dispatchable);
Device* find_device(const void* dispatchable);

/// What the frames of all devices of this process are written to.
guest::FrameLog& frame_log();

/// True where this process is to record frames of Vulkan.
bool may_record();
/// True where it is to record them, or to report them to a live run: else nothing but the chain of layers is kept.
bool wants_frames();

/// Hooks of the functions of these names: they call the next layer and keep the tables. A traced device gets the
/// extension for calibrated timestamps where the program did not ask for it and the device has it.
VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                               VkInstance* instance);
VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks* allocator);
VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* device);
VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* allocator);
/// Writes what all devices still hold, at the end of the process.
void flush_devices_at_exit();

}  // namespace corun::vulkan

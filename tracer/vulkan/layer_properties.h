#pragma once

#include <vulkan/vulkan.h>

namespace corun::vulkan {

/// The function of this name that says what this layer is (vkEnumerateInstanceLayerProperties and its three kin), or
/// null. The layer offers no extensions of its own; questions about others' go to the next layer.
PFN_vkVoidFunction properties_hook(const char* name);

}  // namespace corun::vulkan

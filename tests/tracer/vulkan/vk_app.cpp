// A small Vulkan program whose frames are known: it clears an image of its own a few times a frame, shows the colour in
// a window, reads its pixels back, and says their checksum. It ends with exit code 9. What traces it must change none
// of that.
//
//   vk_app [--frames N] [--submits K] [--submit2] [--swapchains 2] [--recreate EVERY] [--present-thread]
//          [--devices 2] [--leave] [--validate] [--headless] [--fills N] [--fps F]
//
// Every device has an instance of its own. --leave ends without destroying anything, as most games do. --validate
// counts the messages of the validation layer. --headless needs no X server, but a driver with VK_EXT_headless_surface.

#define VK_USE_PLATFORM_XCB_KHR
#include <unistd.h>
#include <vulkan/vulkan.h>
#include <xcb/xcb.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::uint32_t kSize = 32;
constexpr std::uint16_t kWindow = 64;
constexpr VkDeviceSize kFilledBytes = 256 << 20;
constexpr int kExitCode = 9;
constexpr int kSkipCode = 77;

struct Options {
  int frames = 10, submits = 1, swapchains = 1, recreate = 0, devices = 1, fills = 0, fps = 0;
  bool submit2 = false, present_thread = false, leave = false, validate = false, headless = false;
};

int messages = 0;

void check(VkResult result, const char* what) {
  if (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) return;
  std::fprintf(stderr, "vk_app: %s failed with %d\n", what, result);
  std::_Exit(1);
}
#define CHECK(call) check(call, #call)

VKAPI_ATTR VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                             const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++messages;
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  return VK_FALSE;
}

Options parse(int count, char** words) {
  Options options;
  const auto number = [&](int& i) { return i + 1 < count ? std::atoi(words[++i]) : 1; };
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--frames") options.frames = number(i);
    if (word == "--submits") options.submits = number(i);
    if (word == "--swapchains") options.swapchains = number(i);
    if (word == "--recreate") options.recreate = number(i);
    if (word == "--devices") options.devices = number(i);
    if (word == "--fills") options.fills = number(i);
    if (word == "--fps") options.fps = number(i);
    if (word == "--submit2") options.submit2 = true;
    if (word == "--present-thread") options.present_thread = true;
    if (word == "--leave") options.leave = true;
    if (word == "--validate") options.validate = true;
    if (word == "--headless") options.headless = true;
  }
  return options;
}

VkInstance make_instance(const Options& options) {
  VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  app.apiVersion = options.submit2 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_0;
  std::vector<const char*> extensions{VK_KHR_SURFACE_EXTENSION_NAME, options.headless
                                                                         ? VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME
                                                                         : VK_KHR_XCB_SURFACE_EXTENSION_NAME};
  if (options.validate) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  const char* layer = "VK_LAYER_KHRONOS_validation";
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &app;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  info.enabledLayerCount = options.validate ? 1 : 0;
  info.ppEnabledLayerNames = &layer;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result == VK_ERROR_EXTENSION_NOT_PRESENT || result == VK_ERROR_LAYER_NOT_PRESENT ||
      result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    std::fprintf(stderr, "vk_app: no driver or layer for this (%d)\n", result);
    std::_Exit(kSkipCode);
  }
  check(result, "vkCreateInstance");
  return instance;
}

VkDebugUtilsMessengerEXT make_messenger(VkInstance instance) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = count_message;
  const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  CHECK(create(instance, &info, nullptr, &messenger));
  return messenger;
}

/// A window with its surface and its swap chain.
class Window {
 public:
  Window(VkInstance instance, xcb_connection_t* display) : instance_(instance), display_(display) {
    if (display == nullptr) {
      make_headless();
      return;
    }
    const xcb_screen_t* screen = xcb_setup_roots_iterator(xcb_get_setup(display)).data;
    window_ = xcb_generate_id(display);
    xcb_create_window(display, XCB_COPY_FROM_PARENT, window_, screen->root, 0, 0, kWindow, kWindow, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, nullptr);
    xcb_map_window(display, window_);
    xcb_flush(display);
    VkXcbSurfaceCreateInfoKHR info{VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR};
    info.connection = display;
    info.window = window_;
    CHECK(vkCreateXcbSurfaceKHR(instance, &info, nullptr, &surface_));
  }

  void make_swapchain(VkPhysicalDevice physical, VkDevice device) {
    VkBool32 can_present = VK_FALSE;
    CHECK(vkGetPhysicalDeviceSurfaceSupportKHR(physical, 0, surface_, &can_present));
    VkSurfaceCapabilitiesKHR can{};
    CHECK(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface_, &can));
    std::uint32_t count = 16;
    VkSurfaceFormatKHR formats[16];
    vkGetPhysicalDeviceSurfaceFormatsKHR(physical, surface_, &count, formats);
    VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    info.surface = surface_;
    info.minImageCount = can.minImageCount;
    info.imageFormat = formats[0].format;
    info.imageColorSpace = formats[0].colorSpace;
    info.imageExtent = {kWindow, kWindow};
    info.imageArrayLayers = 1;
    info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    info.preTransform = can.currentTransform;
    info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
    info.clipped = VK_TRUE;
    info.oldSwapchain = swapchain_;
    VkSwapchainKHR fresh = VK_NULL_HANDLE;
    CHECK(vkCreateSwapchainKHR(device, &info, nullptr, &fresh));
    if (swapchain_ != VK_NULL_HANDLE) vkDestroySwapchainKHR(device, swapchain_, nullptr);
    swapchain_ = fresh;
    CHECK(vkGetSwapchainImagesKHR(device, swapchain_, &count, nullptr));
    images_.resize(count);
    CHECK(vkGetSwapchainImagesKHR(device, swapchain_, &count, images_.data()));
  }

  void destroy(VkDevice device) {
    vkDestroySwapchainKHR(device, swapchain_, nullptr);
    vkDestroySurfaceKHR(instance_, surface_, nullptr);
    if (display_ != nullptr) xcb_destroy_window(display_, window_);
  }

  VkSwapchainKHR swapchain() const { return swapchain_; }
  VkImage image(std::uint32_t index) const { return images_[index]; }

 private:
  void make_headless() {
    const VkHeadlessSurfaceCreateInfoEXT info{VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    const auto create = reinterpret_cast<PFN_vkCreateHeadlessSurfaceEXT>(
        vkGetInstanceProcAddr(instance_, "vkCreateHeadlessSurfaceEXT"));
    CHECK(create(instance_, &info, nullptr, &surface_));
  }

  VkInstance instance_;
  xcb_connection_t* display_;
  xcb_window_t window_ = 0;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  std::vector<VkImage> images_;
};

void move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0,
                       nullptr, 1, &barrier);
}

void clear(VkCommandBuffer commands, VkImage image, int colour, VkImageLayout after) {
  const VkClearColorValue value{{static_cast<float>(colour % 7) / 7, static_cast<float>(colour % 5) / 5, 0.5F, 1}};
  const VkImageSubresourceRange whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  move(commands, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &whole);
  move(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, after);
}

/// A device with its windows and the image that it clears.
class Gpu {
 public:
  Gpu(VkInstance instance, xcb_connection_t* display, const Options& options) : options_(options) {
    std::uint32_t count = 1;
    vkEnumeratePhysicalDevices(instance, &count, &physical_);
    if (count == 0) std::_Exit(kSkipCode);
    make_device();
    make_target();
    if (options.fills > 0) filled_ = make_buffer(kFilledBytes, 0, filled_memory_);
    for (int i = 0; i < options.swapchains; ++i) {
      windows_.emplace_back(instance, display).make_swapchain(physical_, device_);
    }
  }

  void frame(int number) {
    if (options_.recreate > 0 && number > 0 && number % options_.recreate == 0) recreate();
    std::vector<std::uint32_t> images(windows_.size());
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      CHECK(vkAcquireNextImageKHR(device_, windows_[i].swapchain(), UINT64_MAX, VK_NULL_HANDLE, acquired_, &images[i]));
      CHECK(vkWaitForFences(device_, 1, &acquired_, VK_TRUE, UINT64_MAX));
      CHECK(vkResetFences(device_, 1, &acquired_));
    }
    for (int i = 0; i < options_.submits; ++i) submit(i, number, images);
    if (options_.present_thread) {
      std::thread([&] { present(images); }).join();
    } else {
      present(images);
    }
    CHECK(vkWaitForFences(device_, 1, &done_, VK_TRUE, UINT64_MAX));
    CHECK(vkResetFences(device_, 1, &done_));
    CHECK(vkResetCommandPool(device_, pool_, 0));
    add_pixels();
  }

  std::uint64_t checksum() const { return checksum_; }

  void destroy() {
    CHECK(vkDeviceWaitIdle(device_));
    for (Window& window : windows_) window.destroy(device_);
    vkDestroySemaphore(device_, rendered_, nullptr);
    vkDestroyFence(device_, acquired_, nullptr);
    vkDestroyFence(device_, done_, nullptr);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyImage(device_, image_, nullptr);
    vkDestroyBuffer(device_, buffer_, nullptr);
    vkDestroyBuffer(device_, filled_, nullptr);
    vkFreeMemory(device_, image_memory_, nullptr);
    vkFreeMemory(device_, buffer_memory_, nullptr);
    vkFreeMemory(device_, filled_memory_, nullptr);
    vkDestroyDevice(device_, nullptr);
  }

 private:
  void make_device() {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceSynchronization2Features sync2{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
    sync2.synchronization2 = VK_TRUE;
    const char* extension = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    if (options_.submit2) info.pNext = &sync2;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
    CHECK(vkCreateDevice(physical_, &info, nullptr, &device_));
    vkGetDeviceQueue(device_, 0, 0, &queue_);
    submit2_ = reinterpret_cast<PFN_vkQueueSubmit2>(vkGetDeviceProcAddr(device_, "vkQueueSubmit2"));
    const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK(vkCreateCommandPool(device_, &pool, nullptr, &pool_));
    commands_.resize(static_cast<std::size_t>(options_.submits));
    VkCommandBufferAllocateInfo buffers{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    buffers.commandPool = pool_;
    buffers.commandBufferCount = static_cast<std::uint32_t>(options_.submits);
    CHECK(vkAllocateCommandBuffers(device_, &buffers, commands_.data()));
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK(vkCreateFence(device_, &fence, nullptr, &acquired_));
    CHECK(vkCreateFence(device_, &fence, nullptr, &done_));
    const VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    CHECK(vkCreateSemaphore(device_, &semaphore, nullptr, &rendered_));
  }

  VkDeviceMemory allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    for (std::uint32_t i = memory.memoryTypeCount; i-- > 0;) {
      const bool fits = (memory.memoryTypes[i].propertyFlags & wanted) == wanted;
      if (fits && (needs.memoryTypeBits >> i & 1) != 0) info.memoryTypeIndex = i;
    }
    VkDeviceMemory allocated = VK_NULL_HANDLE;
    CHECK(vkAllocateMemory(device_, &info, nullptr, &allocated));
    return allocated;
  }

  void make_target() {
    VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = VK_FORMAT_R8G8B8A8_UNORM;
    image.extent = {kSize, kSize, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    CHECK(vkCreateImage(device_, &image, nullptr, &image_));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device_, image_, &needs);
    image_memory_ = allocate(needs, 0);
    CHECK(vkBindImageMemory(device_, image_, image_memory_, 0));

    buffer_ = make_buffer(kSize * kSize * 4, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                          buffer_memory_);
  }

  VkBuffer make_buffer(VkDeviceSize bytes, VkMemoryPropertyFlags wanted, VkDeviceMemory& memory) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    CHECK(vkCreateBuffer(device_, &info, nullptr, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, buffer, &needs);
    memory = allocate(needs, wanted);
    CHECK(vkBindBufferMemory(device_, buffer, memory, 0));
    return buffer;
  }

  void recreate() {
    CHECK(vkDeviceWaitIdle(device_));
    for (Window& window : windows_) window.make_swapchain(physical_, device_);
  }

  void record(VkCommandBuffer commands, int colour, bool is_last, const std::vector<std::uint32_t>& images) {
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    for (int i = 0; i < options_.fills; ++i)
      vkCmdFillBuffer(commands, filled_, 0, VK_WHOLE_SIZE, static_cast<std::uint32_t>(i));
    clear(commands, image_, colour, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    if (is_last) {
      VkBufferImageCopy whole{};
      whole.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
      whole.imageExtent = {kSize, kSize, 1};
      vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer_, 1, &whole);
      for (std::size_t i = 0; i < windows_.size(); ++i) {
        clear(commands, windows_[i].image(images[i]), colour, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
      }
    }
    CHECK(vkEndCommandBuffer(commands));
  }

  void submit(int index, int number, const std::vector<std::uint32_t>& images) {
    const bool is_last = index + 1 == options_.submits;
    VkCommandBuffer commands = commands_[static_cast<std::size_t>(index)];
    record(commands, number * options_.submits + index, is_last, images);
    VkFence fence = is_last ? done_ : VK_NULL_HANDLE;
    if (options_.submit2) {
      VkCommandBufferSubmitInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
      buffer.commandBuffer = commands;
      VkSemaphoreSubmitInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
      signal.semaphore = rendered_;
      signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
      VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
      info.commandBufferInfoCount = 1;
      info.pCommandBufferInfos = &buffer;
      info.signalSemaphoreInfoCount = is_last ? 1 : 0;
      info.pSignalSemaphoreInfos = &signal;
      CHECK(submit2_(queue_, 1, &info, fence));
      return;
    }
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = is_last ? 1 : 0;
    info.pSignalSemaphores = &rendered_;
    CHECK(vkQueueSubmit(queue_, 1, &info, fence));
  }

  void present(const std::vector<std::uint32_t>& images) {
    std::vector<VkSwapchainKHR> swapchains;
    for (const Window& window : windows_) swapchains.push_back(window.swapchain());
    VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &rendered_;
    info.swapchainCount = static_cast<std::uint32_t>(swapchains.size());
    info.pSwapchains = swapchains.data();
    info.pImageIndices = images.data();
    CHECK(vkQueuePresentKHR(queue_, &info));
  }

  void add_pixels() {
    void* pixels = nullptr;
    CHECK(vkMapMemory(device_, buffer_memory_, 0, VK_WHOLE_SIZE, 0, &pixels));
    for (std::uint32_t i = 0; i < kSize * kSize * 4; ++i) {
      checksum_ = (checksum_ ^ static_cast<const unsigned char*>(pixels)[i]) * 1099511628211u;
    }
    vkUnmapMemory(device_, buffer_memory_);
  }

  const Options& options_;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  PFN_vkQueueSubmit2 submit2_ = nullptr;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> commands_;
  VkFence acquired_ = VK_NULL_HANDLE, done_ = VK_NULL_HANDLE;
  VkSemaphore rendered_ = VK_NULL_HANDLE;
  VkImage image_ = VK_NULL_HANDLE;
  VkBuffer buffer_ = VK_NULL_HANDLE, filled_ = VK_NULL_HANDLE;
  VkDeviceMemory image_memory_ = VK_NULL_HANDLE, buffer_memory_ = VK_NULL_HANDLE, filled_memory_ = VK_NULL_HANDLE;
  std::vector<Window> windows_;
  std::uint64_t checksum_ = 14695981039346656037u;
};

}  // namespace

int main(int count, char** words) {
  const Options options = parse(count, words);
  xcb_connection_t* display = options.headless ? nullptr : xcb_connect(nullptr, nullptr);
  if (display != nullptr && xcb_connection_has_error(display) != 0) {
    std::fprintf(stderr, "vk_app: no X server\n");
    return kSkipCode;
  }
  std::vector<VkInstance> instances;
  std::vector<VkDebugUtilsMessengerEXT> messengers;
  std::vector<Gpu> gpus;
  gpus.reserve(static_cast<std::size_t>(options.devices));
  for (int i = 0; i < options.devices; ++i) {
    instances.push_back(make_instance(options));
    if (options.validate) messengers.push_back(make_messenger(instances.back()));
    gpus.emplace_back(instances.back(), display, options);
  }
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < options.frames; ++i) {
    std::this_thread::sleep_until(next);
    for (Gpu& gpu : gpus) gpu.frame(i);
    if (options.fps > 0) next += std::chrono::nanoseconds(1'000'000'000 / options.fps);
  }
  for (const Gpu& gpu : gpus) std::printf("checksum %016llx\n", static_cast<unsigned long long>(gpu.checksum()));
  if (options.leave) return kExitCode;
  for (Gpu& gpu : gpus) gpu.destroy();
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (options.validate) {
      reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
          vkGetInstanceProcAddr(instances[i], "vkDestroyDebugUtilsMessengerEXT"))(instances[i], messengers[i], nullptr);
    }
    vkDestroyInstance(instances[i], nullptr);
  }
  if (display != nullptr) xcb_disconnect(display);
  std::printf("messages %d\n", messages);
  return kExitCode;
}

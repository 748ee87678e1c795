#pragma once

#include <errno.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "tracer/vulkan/device.h"

namespace corun::testing {

/// A device of Vulkan that does what a test says: its functions are a NextDevice's.
///
/// Command buffers are numbers; a query has the stamp that the test wrote, and keeps it until the next one. The GPU's
/// clock runs kAhead before CLOCK_MONOTONIC. As a driver may, it leaves its own values in errno.
class FakeDriver {
 public:
  static constexpr std::int64_t kAhead = 1'000'000'000'000;

  FakeDriver() { current_ = this; }

  vulkan::NextDevice functions() const;
  static VkResult set_loader_data(VkDevice, void*) { return VK_SUCCESS; }

  /// Writes both stamps of a pair, in the nanoseconds of CLOCK_MONOTONIC.
  void stamp(std::uint32_t pair, std::int64_t begin_ns, std::int64_t end_ns) {
    stamps_[2 * pair] = static_cast<std::uint64_t>(begin_ns + kAhead);
    stamps_[2 * pair + 1] = static_cast<std::uint64_t>(end_ns + kAhead);
  }

  VkResult answers = VK_SUCCESS;   ///< of reading queries
  VkResult reset = VK_SUCCESS;     ///< of all queries; VK_NOT_READY: the GPU has not come to it
  int reads = 0;                   ///< of queries
  int live = 0;                    ///< pools and fences that were created and not destroyed
  std::function<void()> at_clock;  ///< called while the clocks are read

 private:
  static inline FakeDriver* current_ = nullptr;
  std::map<std::uint32_t, std::uint64_t> stamps_;
};

inline vulkan::NextDevice FakeDriver::functions() const {
  vulkan::NextDevice next{};
  next.QueueSubmit = [](VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence) {
    errno = EAGAIN;
    return VK_SUCCESS;
  };
  next.CreateQueryPool = [](VkDevice, const VkQueryPoolCreateInfo*, const VkAllocationCallbacks*, VkQueryPool* pool) {
    *pool = reinterpret_cast<VkQueryPool>(std::uintptr_t{1});
    ++current_->live;
    return VK_SUCCESS;
  };
  next.DestroyQueryPool = [](VkDevice, VkQueryPool, const VkAllocationCallbacks*) { --current_->live; };
  next.CreateCommandPool = [](VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*,
                              VkCommandPool* pool) {
    *pool = reinterpret_cast<VkCommandPool>(std::uintptr_t{1});
    ++current_->live;
    return VK_SUCCESS;
  };
  next.DestroyCommandPool = [](VkDevice, VkCommandPool, const VkAllocationCallbacks*) { --current_->live; };
  next.CreateFence = [](VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*, VkFence* fence) {
    *fence = reinterpret_cast<VkFence>(std::uintptr_t{1});
    ++current_->live;
    return VK_SUCCESS;
  };
  next.DestroyFence = [](VkDevice, VkFence, const VkAllocationCallbacks*) { --current_->live; };
  next.GetFenceStatus = [](VkDevice, VkFence) { return current_->reset; };
  next.AllocateCommandBuffers = [](VkDevice, const VkCommandBufferAllocateInfo* info, VkCommandBuffer* buffers) {
    for (std::uintptr_t i = 0; i < info->commandBufferCount; ++i) buffers[i] = reinterpret_cast<VkCommandBuffer>(i + 1);
    return VK_SUCCESS;
  };
  next.BeginCommandBuffer = [](VkCommandBuffer, const VkCommandBufferBeginInfo*) { return VK_SUCCESS; };
  next.EndCommandBuffer = [](VkCommandBuffer) { return VK_SUCCESS; };
  next.CmdResetQueryPool = [](VkCommandBuffer, VkQueryPool, std::uint32_t, std::uint32_t) {};
  next.CmdWriteTimestamp = [](VkCommandBuffer, VkPipelineStageFlagBits, VkQueryPool, std::uint32_t) {};
  next.GetQueryPoolResults = [](VkDevice, VkQueryPool, std::uint32_t first, std::uint32_t count, std::size_t, void* to,
                                VkDeviceSize, VkQueryResultFlags) {
    auto* out = static_cast<std::uint64_t*>(to);
    errno = EBUSY;
    ++current_->reads;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto found = current_->stamps_.find(first + i);
      out[2 * i] = found == current_->stamps_.end() ? 0 : found->second;
      out[2 * i + 1] = found == current_->stamps_.end() ? 0 : 1;
    }
    return current_->answers;
  };
  next.GetCalibratedTimestamps = [](VkDevice, std::uint32_t, const VkCalibratedTimestampInfoEXT*, std::uint64_t* times,
                                    std::uint64_t* deviation) {
    errno = ENOSYS;
    if (current_->at_clock) current_->at_clock();
    const std::int64_t now = guest::monotonic_ns();
    times[0] = static_cast<std::uint64_t>(now + kAhead);
    times[1] = static_cast<std::uint64_t>(now);
    *deviation = 50;
    return VK_SUCCESS;
  };
  return next;
}

}  // namespace corun::testing

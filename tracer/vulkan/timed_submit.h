#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

namespace corun::vulkan {

/// True if any of the submits has a command buffer: else the call gives the GPU nothing to do and is no visit.
bool has_work(std::uint32_t count, const VkSubmitInfo* submits);
bool has_work(std::uint32_t count, const VkSubmitInfo2* submits);

/// A copy of the arguments of vkQueueSubmit or vkQueueSubmit2 with one command buffer more in front of everything and
/// one more behind everything. Lives on the stack for the length of the call; the caller's arrays stay as they are.
///
/// Submit is VkSubmitInfo with Buffer VkCommandBuffer, or VkSubmitInfo2 with VkCommandBufferSubmitInfo.
template <class Submit, class Buffer>
class TimedSubmit {
 public:
  static constexpr std::uint32_t kMostSubmits = 32;
  static constexpr std::uint32_t kMostBuffers = 128;

  /// False where the submits are too many to copy, or carry something that counts command buffers or forbids foreign
  /// ones (device groups, protected memory, structures unknown here): then the call is to go as it came.
  bool wrap(std::uint32_t count, const Submit* submits, VkCommandBuffer first, VkCommandBuffer last);

  const Submit* submits() const { return submits_; }

 private:
  Submit submits_[kMostSubmits];
  Buffer front_[kMostBuffers + 2];
  Buffer back_[kMostBuffers + 1];
};

extern template class TimedSubmit<VkSubmitInfo, VkCommandBuffer>;
extern template class TimedSubmit<VkSubmitInfo2, VkCommandBufferSubmitInfo>;

}  // namespace corun::vulkan

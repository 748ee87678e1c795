#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>

#include "tracer/vulkan/next_layer.h"

namespace corun::vulkan {

/// The queries of one queue and the command buffers that write them, recorded once: pair i is a command buffer that
/// resets queries 2i and 2i+1 and stamps the first at the top of the pipe, and one that stamps the second at the
/// bottom.
///
/// A host that reads a pair which was submitted again may still find the values of the time before, since the reset
/// happens on the GPU; read() takes a pair as written only once both values have changed. create() submits one reset of
/// all queries, behind which the queue orders every use; read() asks for nothing before that reset is done, so no query
/// is ever read that was neither reset nor written. Nothing here waits for the GPU.
class QueryPairs {
 public:
  static constexpr std::uint32_t kCount = 256;
  enum class Answer { kWritten, kNotYet, kFailed };

  struct Stamps {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// Makes everything and submits the reset. The queue must be the caller's, as for a submit. On failure everything
  /// made is destroyed again.
  VkResult create(VkDevice device, const NextDevice& next, PFN_vkSetDeviceLoaderData set_loader_data, VkQueue queue,
                  std::uint32_t family);
  void destroy();

  VkCommandBuffer first(std::uint32_t pair) const { return buffers_[2 * pair]; }
  VkCommandBuffer last(std::uint32_t pair) const { return buffers_[2 * pair + 1]; }
  Answer read(std::uint32_t pair, Stamps& stamps);

 private:
  VkResult make_pools(std::uint32_t family);
  VkResult make_buffers(PFN_vkSetDeviceLoaderData set_loader_data);
  VkResult record(VkCommandBuffer buffer, std::uint32_t reset_from, std::uint32_t reset_count,
                  VkPipelineStageFlagBits stage, std::uint32_t query);
  VkResult submit_reset(VkQueue queue);
  VkResult ask_for_reset();

  VkDevice device_ = VK_NULL_HANDLE;
  const NextDevice* next_ = nullptr;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkCommandPool commands_ = VK_NULL_HANDLE;
  VkFence reset_done_ = VK_NULL_HANDLE;
  bool is_reset_ = false;                         // as far as was asked
  VkCommandBuffer buffers_[2 * kCount + 1] = {};  // the last one resets all queries
  Stamps before_[kCount] = {};
};

}  // namespace corun::vulkan

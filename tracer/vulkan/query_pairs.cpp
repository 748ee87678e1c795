#include "tracer/vulkan/query_pairs.h"

namespace corun::vulkan {
namespace {

constexpr std::uint32_t kNoQuery = UINT32_MAX;

}  // namespace

VkResult QueryPairs::create(VkDevice device, const NextDevice& next, PFN_vkSetDeviceLoaderData set_loader_data,
                            VkQueue queue, std::uint32_t family) {
  device_ = device;
  next_ = &next;
  VkResult result = make_pools(family);
  if (result == VK_SUCCESS) result = make_buffers(set_loader_data);
  if (result == VK_SUCCESS) result = submit_reset(queue);
  if (result != VK_SUCCESS) destroy();
  return result;
}

VkResult QueryPairs::make_pools(std::uint32_t family) {
  VkQueryPoolCreateInfo queries{};
  queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2 * kCount;
  const VkCommandPoolCreateInfo commands{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0, family};
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
  VkResult result = next_->CreateQueryPool(device_, &queries, nullptr, &queries_);
  if (result == VK_SUCCESS) result = next_->CreateCommandPool(device_, &commands, nullptr, &commands_);
  if (result == VK_SUCCESS) result = next_->CreateFence(device_, &fence, nullptr, &reset_done_);
  return result;
}

VkResult QueryPairs::make_buffers(PFN_vkSetDeviceLoaderData set_loader_data) {
  constexpr std::uint32_t kBuffers = 2 * kCount + 1;
  const VkCommandBufferAllocateInfo wanted{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, commands_,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, kBuffers};
  VkResult result = next_->AllocateCommandBuffers(device_, &wanted, buffers_);
  for (std::uint32_t i = 0; i < kBuffers && result == VK_SUCCESS; ++i) result = set_loader_data(device_, buffers_[i]);
  for (std::uint32_t i = 0; i < kCount && result == VK_SUCCESS; ++i) {
    result = record(first(i), 2 * i, 2, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 2 * i);
    if (result == VK_SUCCESS) result = record(last(i), 0, 0, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 2 * i + 1);
  }
  if (result != VK_SUCCESS) return result;
  return record(buffers_[2 * kCount], 0, 2 * kCount, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, kNoQuery);
}

// Simultaneous use, because a pair whose results are there may formally still be pending: only its fence would show it.
VkResult QueryPairs::record(VkCommandBuffer buffer, std::uint32_t reset_from, std::uint32_t reset_count,
                            VkPipelineStageFlagBits stage, std::uint32_t query) {
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, nullptr};
  const VkResult result = next_->BeginCommandBuffer(buffer, &begin);
  if (result != VK_SUCCESS) return result;
  if (reset_count > 0) next_->CmdResetQueryPool(buffer, queries_, reset_from, reset_count);
  if (query != kNoQuery) next_->CmdWriteTimestamp(buffer, stage, queries_, query);
  return next_->EndCommandBuffer(buffer);
}

VkResult QueryPairs::submit_reset(VkQueue queue) {
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &buffers_[2 * kCount];
  return next_->QueueSubmit(queue, 1, &submit, reset_done_);
}

VkResult QueryPairs::ask_for_reset() {
  if (is_reset_) return VK_SUCCESS;
  const VkResult result = next_->GetFenceStatus(device_, reset_done_);
  is_reset_ = result == VK_SUCCESS;
  return result;
}

void QueryPairs::destroy() {
  if (queries_ != VK_NULL_HANDLE) next_->DestroyQueryPool(device_, queries_, nullptr);
  if (commands_ != VK_NULL_HANDLE) next_->DestroyCommandPool(device_, commands_, nullptr);
  if (reset_done_ != VK_NULL_HANDLE) next_->DestroyFence(device_, reset_done_, nullptr);
  queries_ = VK_NULL_HANDLE;
  commands_ = VK_NULL_HANDLE;
  reset_done_ = VK_NULL_HANDLE;
  is_reset_ = false;
}

QueryPairs::Answer QueryPairs::read(std::uint32_t pair, Stamps& stamps) {
  struct Result {
    std::uint64_t ticks, is_available;
  } results[2] = {};
  VkResult result = ask_for_reset();
  if (result == VK_SUCCESS) {
    result = next_->GetQueryPoolResults(device_, queries_, 2 * pair, 2, sizeof(results), results, sizeof(Result),
                                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  }
  if (result != VK_SUCCESS && result != VK_NOT_READY) return Answer::kFailed;
  const Stamps found{results[0].ticks, results[1].ticks};
  const bool is_written = results[0].is_available != 0 && results[1].is_available != 0;
  if (!is_written || found.begin == before_[pair].begin || found.end == before_[pair].end) return Answer::kNotYet;
  before_[pair] = stamps = found;
  return Answer::kWritten;
}

}  // namespace corun::vulkan

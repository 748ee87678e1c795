#include "tracer/vulkan/timed_submit.h"

#include <initializer_list>

namespace corun::vulkan {
namespace {

// Both generations of the structures, seen alike.
std::uint32_t& buffer_count(VkSubmitInfo& submit) { return submit.commandBufferCount; }
std::uint32_t& buffer_count(VkSubmitInfo2& submit) { return submit.commandBufferInfoCount; }
std::uint32_t buffer_count(const VkSubmitInfo& submit) { return submit.commandBufferCount; }
std::uint32_t buffer_count(const VkSubmitInfo2& submit) { return submit.commandBufferInfoCount; }
const VkCommandBuffer*& buffers(VkSubmitInfo& submit) { return submit.pCommandBuffers; }
const VkCommandBufferSubmitInfo*& buffers(VkSubmitInfo2& submit) { return submit.pCommandBufferInfos; }
bool is_protected(const VkSubmitInfo&) { return false; }
bool is_protected(const VkSubmitInfo2& submit) { return (submit.flags & VK_SUBMIT_PROTECTED_BIT) != 0; }

void set(VkCommandBuffer& slot, VkCommandBuffer buffer) { slot = buffer; }
void set(VkCommandBufferSubmitInfo& slot, VkCommandBuffer buffer) {
  slot = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, buffer, 0};
}

// Structures that say nothing of command buffers. Those of the numbers came after Debian 12's headers:
// VkFrameBoundaryEXT and VkLatencySubmissionPresentIdNV.
bool is_harmless(VkStructureType type) {
  return type == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO || type == static_cast<VkStructureType>(1000375001) ||
         type == static_cast<VkStructureType>(1000505005);
}

template <class Submit>
bool allows_more_buffers(const Submit& submit) {
  const auto* next = static_cast<const VkBaseInStructure*>(submit.pNext);
  while (next != nullptr && is_harmless(next->sType)) next = next->pNext;
  return next == nullptr && !is_protected(submit);
}

template <class Buffer>
void copy(const Buffer* from, std::uint32_t count, Buffer* to) {
  for (std::uint32_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class Submit>
bool any_buffers(std::uint32_t count, const Submit* submits) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (buffer_count(submits[i]) > 0) return true;
  }
  return false;
}

}  // namespace

bool has_work(std::uint32_t count, const VkSubmitInfo* submits) { return any_buffers(count, submits); }
bool has_work(std::uint32_t count, const VkSubmitInfo2* submits) { return any_buffers(count, submits); }

template <class Submit, class Buffer>
bool TimedSubmit<Submit, Buffer>::wrap(std::uint32_t count, const Submit* submits, VkCommandBuffer first,
                                       VkCommandBuffer last) {
  if (count == 0 || count > kMostSubmits) return false;
  for (const Submit* submit : {&submits[0], &submits[count - 1]}) {
    if (buffer_count(*submit) > kMostBuffers || !allows_more_buffers(*submit)) return false;
  }
  copy(submits, count, submits_);
  Submit& front = submits_[0];
  set(front_[0], first);
  copy(buffers(front), buffer_count(front)++, front_ + 1);
  buffers(front) = front_;

  Submit& back = submits_[count - 1];
  Buffer* room = count == 1 ? front_ : back_;
  if (count > 1) copy(buffers(back), buffer_count(back), room);
  set(room[buffer_count(back)++], last);
  buffers(back) = room;
  return true;
}

template class TimedSubmit<VkSubmitInfo, VkCommandBuffer>;
template class TimedSubmit<VkSubmitInfo2, VkCommandBufferSubmitInfo>;

}  // namespace corun::vulkan

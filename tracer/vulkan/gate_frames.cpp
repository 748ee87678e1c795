#include "tracer/vulkan/gate_frames.h"

#include <stdlib.h>
#include <time.h>

#include "tracer/gate/frame_gate.h"
#include "tracer/guest/kept_errno.h"

constinit corun::gate::FrameGate corun::gate::frame_gate{corun::gate::FrameTeller::kVulkan};

namespace corun::vulkan {

using gate::frame_gate;

bool may_be_gated() { return secure_getenv(gate::kFileVariable) != nullptr; }

void GateFrames::open(VkDevice device, const NextDevice& next) {
  device_ = device;
  next_ = next;
}

void GateFrames::close() { frame_gate.forget(this); }

bool GateFrames::before_submit() {
  const guest::KeptErrno kept;
  return device_ != VK_NULL_HANDLE && frame_gate.begin();
}

void GateFrames::after_submit(VkQueue queue) {
  const guest::KeptErrno kept;
  if (!presents(queue)) put_fence(queue, false);
}

GateFrames::Present GateFrames::before_present(VkQueue queue) {
  const guest::KeptErrno kept;
  if (!before_submit()) return {};
  remember(queue);
  return {true, put_fence(queue, true)};
}

void GateFrames::after_present(const Present& present, bool is_shown) {
  const guest::KeptErrno kept;
  if (present.is_told && is_shown && frame_gate.is_on()) frame_gate.present(present.is_fenced);
}

bool GateFrames::presents(VkQueue queue) const {
  for (const VkQueue& known : presenting_)
    if (__atomic_load_n(&known, __ATOMIC_RELAXED) == queue) return true;
  return false;
}

void GateFrames::remember(VkQueue queue) {
  if (presents(queue)) return;
  for (VkQueue& place : presenting_) {
    VkQueue free = VK_NULL_HANDLE;
    if (__atomic_compare_exchange_n(&place, &free, queue, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  }
}

// A fence that is in use must not be destroyed: where too many are awaited, the end goes unseen. Reported now, it would
// come before those that are awaited.
bool GateFrames::put_fence(VkQueue queue, bool is_end) {
  if (!frame_gate.has_room()) return true;
  const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
  VkFence fence = VK_NULL_HANDLE;
  if (next_.CreateFence(device_, &info, nullptr, &fence) != VK_SUCCESS) return false;
  if (next_.QueueSubmit(queue, 0, nullptr, fence) != VK_SUCCESS) {
    next_.DestroyFence(device_, fence, nullptr);
    return false;
  }
  frame_gate.await({this, fence, &has_passed, &destroy}, is_end);
  return true;
}

bool GateFrames::has_passed(void* self, void* fence) {
  const auto& frames = *static_cast<const GateFrames*>(self);
  return frames.next_.GetFenceStatus(frames.device_, static_cast<VkFence>(fence)) != VK_NOT_READY;
}

// One that is never signalled is left to the driver.
void GateFrames::destroy(void* self, void* fence) {
  constexpr int kNaps = 1000;
  const timespec nap{0, 100'000};
  for (int i = 0; i < kNaps && !has_passed(self, fence); ++i) nanosleep(&nap, nullptr);
  const auto& frames = *static_cast<const GateFrames*>(self);
  if (has_passed(self, fence)) frames.next_.DestroyFence(frames.device_, static_cast<VkFence>(fence), nullptr);
}

}  // namespace corun::vulkan

#pragma once

#include <vulkan/vulkan.h>

#include "tracer/vulkan/next_layer.h"

namespace corun::vulkan {

/// Reports the frames of one device to the scheduler of a live run (tracer/gate/frame_gate.h): a frame begins with its
/// first submission, and has ended when the fences behind its work have been signalled.
///
/// A fence is submitted in front of each present, on the queue that presents, which covers what was submitted there.
/// Behind work on queues that have not presented yet, each submission gets one. Nothing here waits for the GPU but
/// close(), for fences of a device that is idle. In static memory; any thread, as far as Vulkan allows for queues.
class GateFrames {
 public:
  void open(VkDevice device, const NextDevice& next);
  /// Destroys the fences; the device is idle, as Vulkan asks.
  void close();

  /// Around a submission that has work, on a queue that is the caller's.
  bool before_submit();
  void after_submit(VkQueue queue);
  /// Around a present.
  struct Present {
    bool is_told = false;
    bool is_fenced = false;
  };
  Present before_present(VkQueue queue);
  void after_present(const Present& present, bool is_shown);

 private:
  static constexpr int kMostPresenting = 4;

  bool presents(VkQueue queue) const;
  void remember(VkQueue queue);
  bool put_fence(VkQueue queue, bool is_end);
  static bool has_passed(void* self, void* fence);
  static void destroy(void* self, void* fence);

  VkDevice device_ = VK_NULL_HANDLE;
  NextDevice next_{};
  VkQueue presenting_[kMostPresenting] = {};
};

/// True where the environment names a gate.
bool may_be_gated();

}  // namespace corun::vulkan

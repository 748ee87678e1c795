#pragma once

#include <pthread.h>
#include <vulkan/vulkan.h>

#include <cstdint>

#include "tracer/frames/frame_log.h"
#include "tracer/vulkan/device_clock.h"
#include "tracer/vulkan/gate_frames.h"
#include "tracer/vulkan/next_layer.h"
#include "tracer/vulkan/visit_ring.h"

namespace corun::vulkan {

/// What is known of a device when it is created.
struct DeviceTraits {
  bool is_traced = false;  ///< the process records or is gated, and the device can present
  std::uint32_t api_version = 0;
  double timestamp_period_ns = 0;
  char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE] = {};
  static constexpr std::uint32_t kMostFamilies = 16;
  std::uint32_t timestamp_bits[kMostFamilies] = {};  ///< of a queue family; 0: it can do no timestamps, or may not
  PFN_vkSetDeviceLoaderData set_loader_data = nullptr;
  PFN_vkGetCalibratedTimestampsEXT read_clocks = nullptr;  ///< null: no clock, hence no GPU times
};

/// What vkQueuePresentKHR says of a swap chain whose image it took.
bool was_presented(VkResult result);

/// A queue that the program asked for.
struct Queue {
  VkQueue handle;
  std::uint32_t family;
  std::uint32_t bits;    // of its timestamps; 0: none are taken
  std::uint32_t number;  // in the log, 0 before its first visit
  VisitRing* ring;       // null before the first visit, or where there are no times
};

struct Swapchain {
  VkSwapchainKHR handle;
  std::uint32_t number;  // in the log
};

/// One device of the program and what its frames are made of.
///
/// It records from its first swap chain on. A frame begins with the first submission after a present, on whatever
/// queue, and is closed when the next present is called; a present of several swap chains closes it for the first and
/// gives the others frames of their own without visits. Where the present fails, the frame goes on.
/// A lost device (VK_ERROR_DEVICE_LOST from any call) is not touched any more; the program's calls go down as ever.
///
/// Lives in a table of static memory. All locks are short: no call to the device but for results of queries and the
/// state of a fence, which do not wait, is made under one. Nothing of this layer's waits for the GPU, and errno stays
/// as the program's own call left it.
class Device {
 public:
  /// The log is started at the first swap chain; it must live as long as the process.
  void open(VkDevice handle, const NextDevice& next, const DeviceTraits& traits, guest::FrameLog& log);
  /// Writes what is pending and destroys this layer's objects; `handle` is idle then, as Vulkan asks.
  void close();

  const NextDevice& next() const { return next_; }
  bool is_traced() const { return traits_.is_traced; }
  bool is_recording() const;

  void add_queue(VkQueue queue, std::uint32_t family, bool may_time);
  void add_swapchain(VkSwapchainKHR swapchain, const VkExtent2D& extent);
  void remove_swapchain(VkSwapchainKHR swapchain);
  void lose() { __atomic_store_n(&is_lost_, true, __ATOMIC_RELAXED); }

  /// A submission on its way: filled by begin_visit(), and given back by end_visit().
  struct Visit {
    part::VisitRecord record{};
    Queue* queue = nullptr;
    std::int64_t entered_ns = 0;
    VkCommandBuffer first = VK_NULL_HANDLE, last = VK_NULL_HANDLE;  ///< null: no GPU times this time
  };
  /// False: nothing is to be recorded, the call goes down as it came.
  bool begin_visit(VkQueue queue, Visit& visit);
  /// After the call went down; `is_timed`: with the visit's command buffers.
  void end_visit(Visit& visit, VkResult result, bool is_timed);

  /// A present on its way.
  struct Present {
    std::int64_t entered_ns = 0, present_ns = 0, present_end_ns = 0;
    std::uint64_t frame = 0;
    std::uint32_t visits = 0;
  };
  void begin_present(Present& present);
  void end_present(Present& present, VkResult result, const VkPresentInfoKHR& info, const VkResult* results);

  GateFrames& gate_frames() { return gate_frames_; }

  /// At the end of the process: what is known is written, the driver is left alone.
  void flush_at_exit();

 private:
  static constexpr int kMostQueues = 16;
  static constexpr int kMostSwapchains = 32;

  Queue* find_queue(VkQueue queue);
  bool make_ring(Queue& queue);
  void take_pair(Queue& queue, Visit& visit);
  void read_clock(std::int64_t now_ns);
  void collect(VisitRing& ring);
  std::uint32_t swapchain_number(VkSwapchainKHR swapchain) const;

  VkDevice handle_ = VK_NULL_HANDLE;
  NextDevice next_{};
  DeviceTraits traits_;
  guest::FrameLog* log_ = nullptr;
  GateFrames gate_frames_;
  bool has_swapchain_ = false;
  bool is_lost_ = false;

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // everything below, but for the handles of queues
  Queue queues_[kMostQueues] = {};
  Swapchain swapchains_[kMostSwapchains] = {};
  DeviceClock clock_;
  std::uint64_t frame_ = 0;  // that visits belong to; 0: the next submission begins one
  std::uint32_t visits_ = 0;
  std::int64_t tracer_ns_ = 0;
};

}  // namespace corun::vulkan

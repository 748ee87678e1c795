#include "tracer/gl/swapchains.h"

#include "tracer/gl/draw_sample.h"

namespace corun::gl {

void Swapchain::begin_frame(guest::FrameLog& log, std::int64_t now_ns) {
  const std::uint64_t next = log.begin_frame();
  __atomic_store_n(&frame, next, __ATOMIC_RELAXED);
  is_wanted = log.wants(next, now_ns);
  // The first frame, which ends with the first swap, has no visits.
  is_sampled = is_wanted && wanted_frames++ % DrawSample::kPeriod == 1;
}

Swapchain* Swapchains::find(void* display, std::uintptr_t surface) {
  for (Swapchain& chain : chains_) {
    if (chain.last_swap_ns != 0 && chain.display == display && chain.surface == surface) return &chain;
  }
  return nullptr;
}

Swapchain* Swapchains::add(void* display, std::uintptr_t surface, std::int64_t now_ns) {
  Swapchain* oldest = &chains_[0];
  for (Swapchain& chain : chains_) {
    if (chain.last_swap_ns < oldest->last_swap_ns) oldest = &chain;
  }
  *oldest = Swapchain{};
  oldest->display = display;
  oldest->surface = surface;
  oldest->last_swap_ns = now_ns;
  return oldest;
}

}  // namespace corun::gl

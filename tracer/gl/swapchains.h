#pragma once

#include <cstdint>

#include "tracer/frames/frame_log.h"
#include "tracer/gl/query_api.h"

namespace corun::gl {

/// What is shown in one place: a display and a surface (a drawable of GLX). It has a frame in the making at all times.
struct Swapchain {
  void* display = nullptr;
  std::uintptr_t surface = 0;
  std::int64_t last_swap_ns = 0;  ///< 0: the entry is free
  std::uint32_t number = 0;       ///< in the part
  std::uint32_t visits = 0;       ///< of the frame in the making, by whichever thread
  std::uint64_t frame = 0;        ///< in the making
  bool is_wanted = false;         ///< the frame lies in the window asked for
  bool is_sampled = false;        ///< what it is made of is wanted, too
  std::uint64_t wanted_frames = 0;
  std::int64_t tracer_ns = 0;  ///< our own time in this frame, by whichever thread

  void add_visit() { __atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED); }
  void add_tracer_ns(std::int64_t ns) { __atomic_add_fetch(&tracer_ns, ns, __ATOMIC_RELAXED); }
  std::uint32_t take_visits() { return __atomic_exchange_n(&visits, 0, __ATOMIC_RELAXED); }
  std::int64_t take_tracer_ns() { return __atomic_exchange_n(&tracer_ns, 0, __ATOMIC_RELAXED); }
  std::uint64_t current_frame() const { return __atomic_load_n(&frame, __ATOMIC_RELAXED); }
  void begin_frame(guest::FrameLog& log, std::int64_t now_ns);
};

/// The swapchains of a process, kMost of them: a newer one takes the place of the one longest not shown. The caller
/// sees to it that one thread at a time asks; pointers stay good.
class Swapchains {
 public:
  Swapchain* find(void* display, std::uintptr_t surface);
  /// A new one, whose first frame is the one that is about to be shown.
  Swapchain* add(void* display, std::uintptr_t surface, std::int64_t now_ns);
  /// The one shown last; null before the first swap.
  Swapchain* newest() const { return __atomic_load_n(&newest_, __ATOMIC_RELAXED); }
  void set_newest(Swapchain* chain) { __atomic_store_n(&newest_, chain, __ATOMIC_RELAXED); }

  static constexpr int kMost = 64;

 private:
  Swapchain chains_[kMost];
  Swapchain* newest_ = nullptr;
};

}  // namespace corun::gl

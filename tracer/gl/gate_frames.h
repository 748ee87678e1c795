#pragma once

#include "tracer/gl/query_api.h"

namespace corun::gl {

/// Reports this process's frames to the scheduler of a live run (tracer/gate/frame_gate.h): by a fence of EGL behind
/// each. Where there are no fences (GLX), a frame ends when its swap returns. Without a gate nothing happens. Never
/// destroyed.
class GateFrames {
 public:
  /// Around a swap in `display`, where a frame is current; `real` is the function it leads to.
  void before_swap(Platform platform, void* display, const void* real);
  void after_swap(bool is_shown);

 private:
  struct Functions {
    void* (*create)(void* display, unsigned type, const int* attributes);
    int (*wait)(void* display, void* sync, int flags, std::uint64_t most_ns);
    unsigned (*destroy)(void* display, void* sync);
  };

  void find_functions(const void* real);
  static bool has_passed(void* display, void* sync);
  static void destroy(void* display, void* sync);

  Functions functions_{};
  bool is_fenced_ = false;  // the frame that is being shown
};
extern GateFrames gate_frames;

}  // namespace corun::gl

#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/gate_link.h"
#include "tracer/gl/query_api.h"

namespace corun::gl {

/// Tells the scheduler of a live run (CORUN_GATE) of the frames of this process: begin, present, and the end of their
/// work on the GPU, which a thread of ours sees by a fence behind each frame. One frame at a time is counted, whichever
/// of the program's threads draws and shows it. Where there are no fences (GLX), a frame ends when its swap returns.
///
/// What a frame took counts from its first work's submission, or the frame before, to its end. Rendering is never
/// held back. Without a gate nothing happens. Never destroyed.
class GateFrames {
 public:
  /// The program is about to give GL work.
  void begin();
  /// Around a swap in `display`, where a frame is current; `real` is the function it leads to.
  void before_swap(Platform platform, void* display, const void* real);
  void after_swap(bool is_shown);
  /// No frame is told from here on.
  void give_up() { state_ = State::kOff; }

 private:
  static constexpr std::uint32_t kMostFences = 64;
  enum class State : std::uint8_t { kUnknown, kStarting, kOff, kOn };

  /// A frame whose end is awaited.
  struct Fence {
    void* display;
    void* sync;
    std::uint64_t frame;
    std::int64_t begin_ns;
  };
  struct Functions {
    void* (*create)(void* display, unsigned type, const int* attributes);
    int (*wait)(void* display, void* sync, int flags, std::uint64_t most_ns);
    unsigned (*destroy)(void* display, void* sync);
  };

  bool is_on();
  void start();
  void find_functions(const void* real);
  static void* run(void* self);
  void watch();
  bool take(Fence& fence);
  void put(const Fence& fence);
  void end(std::uint64_t frame, std::int64_t begin_ns);

  gate::GateLink link_;
  Functions functions_{};
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  Fence fences_[kMostFences] = {};
  std::uint32_t first_ = 0, count_ = 0;
  std::uint64_t frame_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t last_end_ns_ = 0;
  bool is_fenced_ = false;  // the frame that is being shown
  std::atomic<bool> is_in_frame_{false};
  std::atomic<State> state_{State::kUnknown};
};
extern GateFrames gate_frames;

}  // namespace corun::gl

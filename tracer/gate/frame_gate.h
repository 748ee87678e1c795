#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "tracer/gate/channel/link.h"

namespace corun::gate {

/// A point in the GPU's work: what was submitted before it has ended when it has passed.
struct Fence {
  void* owner;   ///< display or device; lives until the fence is destroyed, or forget() was called
  void* handle;  ///< of the fence itself
  bool (*has_passed)(void* owner, void* handle);
  void (*destroy)(void* owner, void* handle);
};

/// Reports the frames of this process to the scheduler of a live run (CORUN_GATE): begin, present, and the end of their
/// work on the GPU, which a thread of ours sees by fences. One frame at a time is counted, whichever of the program's
/// threads draws and shows it.
///
/// Where GL is made of Vulkan, both libraries are in the process: the one that begins first has its frames.
///
/// What a frame took counts from its first work's submission, or the end of the frame before, to its end. Rendering is
/// never held back. Without a gate nothing happens. Any thread. Never destroyed.
class FrameGate {
 public:
  explicit constexpr FrameGate(FrameTeller teller) : teller_(teller) {}

  /// The program is about to give the GPU work. True while frames are reported.
  bool begin();
  /// The work of the frame up to here is behind this fence, which is ours from now on; the last of its fences is its
  /// end. To be called before present().
  void await(const Fence& fence, bool is_end);
  /// Without room, await() destroys the oldest fence, passed or not.
  bool has_room();
  /// The frame was handed over to be shown; `has_end`: its end is awaited, else it ends now.
  void present(bool has_end);
  /// Reports the ends that are awaited of this owner, whose work has ended, and destroys its fences: nothing of it is
  /// touched afterwards.
  void forget(void* owner);
  bool is_on() const { return state_.load(std::memory_order_relaxed) == State::kOn; }
  /// No frame is reported from here on. stop(): nor is the driver called, which is about to end with the process.
  void give_up() { state_ = State::kOff; }
  void stop();

 private:
  static constexpr std::uint32_t kMostFences = 256;
  static constexpr std::uint32_t kMostMakers = 8;  // threads that have seen that there is room
  enum class State : std::uint8_t { kUnknown, kStarting, kOff, kOn };

  struct Awaited {
    Fence fence;
    std::uint64_t frame;
    std::int64_t begin_ns;
    bool is_end;
  };

  void start();
  static void* run(void* self);
  void watch();
  Awaited take_oldest();
  void drop_oldest();
  void end(std::uint64_t frame, std::int64_t begin_ns);

  const FrameTeller teller_;
  GateLink link_;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // what follows, up to the owner
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  Awaited awaited_[kMostFences] = {};
  std::uint32_t first_ = 0, count_ = 0;
  void* watched_owner_ = nullptr;          // of the fence that our thread has
  std::atomic<void*> forgotten_{nullptr};  // its fences are awaited no longer
  std::int64_t last_end_ns_ = 0;
  std::atomic<std::uint64_t> frame_{0};
  std::atomic<std::int64_t> begin_ns_{0};
  std::atomic<bool> is_in_frame_{false};
  std::atomic<State> state_{State::kUnknown};
};

/// The one of the library that this is linked into; the library defines it.
extern FrameGate frame_gate;

}  // namespace corun::gate

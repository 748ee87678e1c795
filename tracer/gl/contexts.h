#pragma once

#include <cstdint>

#include "tracer/gl/swapchains.h"
#include "tracer/gl/visits.h"

namespace corun::gl {

/// A GL context of the program that has given the GPU work since the first swap. It lives in memory of its own that is
/// used again and never given back, so that a late look at it is harmless.
struct Context {
  Platform platform = Platform::kEgl;
  void* handle = nullptr;   ///< null: free
  void* display = nullptr;  ///< it was made current with; for eglTerminate
  QueryApi api;
  Visits visits;
  std::int64_t open_ns = 0;    ///< what it took to open the visit that is open
  Swapchain* chain = nullptr;  ///< where its frames are shown; null: not known
  bool is_current = false;     ///< in some thread
  bool is_doomed = false;      ///< destroyed while current: goes when it is put down

  /// The thread in which it is current and, at the end, the thread that says so may want it at one time. Neither waits.
  bool enter() { return !__atomic_exchange_n(&is_entered_, true, __ATOMIC_ACQUIRE); }
  void leave() { __atomic_store_n(&is_entered_, false, __ATOMIC_RELEASE); }

  /// Its clock and the stamps that are there. Entered and current; calls GL.
  void look_after(std::int64_t now_ns, guest::FrameLog& log);
  /// Hands over what is known; calls no GL. Enters by itself.
  void drain(guest::FrameLog& log);

 private:
  bool is_entered_ = false;
};

/// The contexts of a process, kMost of them; what comes later is not traced. One thread at a time.
class Contexts {
 public:
  Context* find(Platform platform, void* handle);
  /// A fresh one. Null where there is no room.
  Context* add(Platform platform, void* handle);
  void remove(Context* context) { context->handle = nullptr; }
  Context* at(int i) { return contexts_[i]; }  ///< null or free for some i below kMost

  static constexpr int kMost = 64;

 private:
  Context* contexts_[kMost] = {};
};

}  // namespace corun::gl

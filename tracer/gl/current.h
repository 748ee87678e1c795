#pragma once

#include <cstdint>

#include "tracer/gl/contexts.h"

namespace corun::gl {

/// What this library knows of a thread. `is_settled` comes first: the stubs of work and pass calls read it, and go
/// straight on where it is true. Work calls settle it. It is false where a work call would open a visit or belongs to a
/// sample of draws, or where that has yet to be found out.
struct Thread {
  bool is_settled;
  bool is_inside;     ///< of a hook: what GL or another library calls from there is none of the program's
  bool is_compiling;  ///< a display list: a stamp would end up in it
  Platform platform;
  void* handle;  ///< of the context that is current; null: none
  void* display;
  std::uintptr_t surface;
  Context* context;        ///< null: not looked up
  const void* last_swap;   ///< the true function of it
  void* (*get_current)();  ///< of the same library; null: it has none
};
#define CORUN_GL_THREAD_MODEL __attribute__((tls_model("initial-exec"), visibility("hidden")))
extern "C" __thread Thread corun_gl_thread CORUN_GL_THREAD_MODEL;

/// Marks the thread as inside a hook for a while. What it calls then passes through.
class Passage {
 public:
  Passage() : was_inside_(corun_gl_thread.is_inside) {
    corun_gl_thread.is_inside = true;
    corun_gl_thread.is_settled = true;
  }
  ~Passage() {
    corun_gl_thread.is_inside = was_inside_;
    corun_gl_thread.is_settled = was_inside_;
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  bool is_nested() const { return was_inside_; }

 private:
  bool was_inside_;
};

/// The context that is current, looked at where it is new; null where there is none or no room. Calls GL.
Context* current_context();
/// Asks the library that holds `swap`, for a program whose eglMakeCurrent went past us.
void ask_for_current(Platform platform, void* display, std::uintptr_t surface, const void* swap);

/// The thread's context is now this one, drawing to this surface.
void make_current(Platform platform, void* display, std::uintptr_t surface, void* handle);
/// Before they are destroyed. `handle` null: all contexts of the display.
void destroy_contexts(Platform platform, void* display, void* handle);

}  // namespace corun::gl

#include "tracer/gl/current.h"

#include "tracer/gl/calls/symbols.h"
#include "tracer/gl/recording.h"
#include "tracer/guest/kept_errno.h"

namespace corun::gl {

extern "C" {
__thread Thread corun_gl_thread CORUN_GL_THREAD_MODEL = {};
}

namespace {

using guest::monotonic_ns;

void* find_by_platform(Platform platform, const char* name) {
  using GetProcAddress = void*(const char* name);
  const char* asked = platform == Platform::kEgl ? "eglGetProcAddress" : "glXGetProcAddressARB";
  auto* get = reinterpret_cast<GetProcAddress*>(find_true_function(asked));
  void* found = get == nullptr ? nullptr : get(name);
  return found != nullptr ? found : find_true_function(name);
}
void* find_by_egl(const char* name) { return find_by_platform(Platform::kEgl, name); }
void* find_by_glx(const char* name) { return find_by_platform(Platform::kGlx, name); }

using GetCurrentContext = void*();

// Looked for where the swap has not been seen last in this thread.
GetCurrentContext* find_get_current(Platform platform, const void* swap) {
  Thread& thread = corun_gl_thread;
  if (thread.last_swap == swap) return thread.get_current;
  const char* name = platform == Platform::kEgl ? "eglGetCurrentContext" : "glXGetCurrentContext";
  thread.get_current = reinterpret_cast<GetCurrentContext*>(find_beside(swap, name));
  thread.last_swap = swap;
  return thread.get_current;
}

void look_at(Context& context) {
  context.api = load_query_api(context.platform == Platform::kEgl ? &find_by_egl : &find_by_glx);
  context.visits.begin(context.api, recording.log.queue());
  if (!context.api.has_queries) recording.has_no_queries = true;
}

// The context is on its way out: what is there is fetched as far as it is current here, and no GL is called later on.
void destroy_context(Context& context) {
  Thread& thread = corun_gl_thread;
  const bool is_mine = thread.context == &context;
  if (is_mine && context.enter()) {
    context.look_after(monotonic_ns(), recording.log);
    context.leave();
  }
  context.drain(recording.log);
  if (is_mine) {
    thread.context = nullptr;
    thread.handle = nullptr;
  }
  const Locked locked;
  context.is_doomed = true;
  if (is_mine || !context.is_current) recording.contexts.remove(&context);
}

void put_down(Context* context) {
  if (context == nullptr || !recording.is_on()) return;
  if (context->is_doomed) context->drain(recording.log);
  const Locked locked;
  context->is_current = false;
  if (context->is_doomed) recording.contexts.remove(context);
}

void show_elsewhere(Context* context) {
  if (context == nullptr || !recording.is_on()) return;
  const Locked locked;
  context->chain = recording.swapchains.find(corun_gl_thread.display, corun_gl_thread.surface);
}

}  // namespace

// The context that is current, looked at where it is new; null where there is none or no room. Calls GL.
Context* current_context() {
  Thread& thread = corun_gl_thread;
  if (thread.context != nullptr || thread.handle == nullptr) return thread.context;
  bool is_new = false;
  {
    const Locked locked;
    thread.context = recording.contexts.find(thread.platform, thread.handle);
    is_new = thread.context == nullptr;
    if (is_new) thread.context = recording.contexts.add(thread.platform, thread.handle);
    if (thread.context == nullptr) return nullptr;
    thread.context->is_current = true;
    thread.context->display = thread.display;
    thread.context->chain = recording.swapchains.find(thread.display, thread.surface);
  }
  if (is_new) look_at(*thread.context);
  return thread.context;
}

// For a program whose eglMakeCurrent went past us. To have none at a swap is odd enough to be left alone.
void ask_for_current(Platform platform, void* display, std::uintptr_t surface, const void* swap) {
  GetCurrentContext* get = find_get_current(platform, swap);
  void* handle = get == nullptr ? nullptr : get();
  const Thread& thread = corun_gl_thread;
  const bool is_known = thread.handle == handle && thread.platform == platform;
  if (handle != nullptr && !is_known) make_current(platform, display, surface, handle);
}

void make_current(Platform platform, void* display, std::uintptr_t surface, void* handle) {
  Thread& thread = corun_gl_thread;
  if (handle == nullptr && thread.platform != platform) return;
  const guest::KeptErrno kept;
  const bool is_same = thread.handle == handle && thread.platform == platform;
  thread.platform = platform;
  thread.handle = handle;
  thread.display = display;
  thread.surface = surface;
  if (is_same) return show_elsewhere(thread.context);
  put_down(thread.context);
  thread.context = nullptr;
}

void destroy_contexts(Platform platform, void* display, void* handle) {
  if (!recording.is_on()) return;
  const guest::KeptErrno kept;
  for (int i = 0; i < Contexts::kMost; ++i) {
    Context* context = recording.contexts.at(i);
    if (context == nullptr || context->handle == nullptr || context->platform != platform) continue;
    if (handle == nullptr ? context->display == display : context->handle == handle) destroy_context(*context);
  }
}

}  // namespace corun::gl

#include <cstdint>

#include "tracer/gl/calls/symbols.h"
#include "tracer/gl/current.h"
#include "tracer/gl/recorder.h"

/// The hooks: each is entered by a stub (stubs.h) with the arguments of the function it stands before and, last, the
/// function itself, and calls that once with what it was given.
namespace corun::gl {
namespace {

using Display = void*;
using Surface = std::uintptr_t;  // EGLSurface, GLXDrawable
using ContextHandle = void*;
using Boolean = unsigned;  // EGLBoolean, Bool

template <class Call>
void submit(bool is_wait, Call call) {
  const Passage passage;
  if (passage.is_nested()) return call();
  Submission submission = begin_submission(is_wait);
  call();
  end_submission(submission);
}

// `real` is where the swap leads: its library says which context is current.
template <class Real, class Call>
Boolean swap(Platform platform, Display display, Surface surface, Real* real, Call call) {
  const Passage passage;
  if (passage.is_nested()) return call();
  Swap swap = begin_swap(platform, display, surface, reinterpret_cast<const void*>(real));
  const Boolean is_shown = call();
  end_swap(swap, is_shown != 0);
  return is_shown;
}

// Putting a context down submits what it has open.
template <class Call>
Boolean change_current(Platform platform, Display display, Surface surface, ContextHandle context, Call call) {
  const Passage passage;
  if (passage.is_nested()) return call();
  const Thread& thread = corun_gl_thread;
  const bool is_other = thread.handle != context || thread.platform != platform;
  const bool is_change = is_other ? context != nullptr || thread.platform == platform : thread.surface != surface;
  Submission submission;
  if (is_change) {
    look_after_current();
    submission = begin_submission(false);
  }
  const Boolean is_done = call();
  submission.is_last = is_other && is_done != 0;
  end_submission(submission);
  if (is_done != 0) make_current(platform, display, surface, context);
  return is_done;
}

template <class Call>
void destroy(Platform platform, Display display, ContextHandle context, Call call) {
  const Passage passage;
  if (!passage.is_nested()) destroy_contexts(platform, display, context);
  call();
}

}  // namespace

extern "C" {

Boolean corun_gl_on_eglSwapBuffers(Display display, Surface surface, Boolean (*real)(Display, Surface)) {
  return swap(Platform::kEgl, display, surface, real, [=] { return real(display, surface); });
}

using SwapWithDamage = Boolean(Display, Surface, const int* rectangles, int count);

Boolean corun_gl_on_eglSwapBuffersWithDamageEXT(Display display, Surface surface, const int* rectangles, int count,
                                                SwapWithDamage* real) {
  return swap(Platform::kEgl, display, surface, real, [=] { return real(display, surface, rectangles, count); });
}

Boolean corun_gl_on_eglSwapBuffersWithDamageKHR(Display display, Surface surface, const int* rectangles, int count,
                                                SwapWithDamage* real) {
  return swap(Platform::kEgl, display, surface, real, [=] { return real(display, surface, rectangles, count); });
}

void corun_gl_on_glXSwapBuffers(Display display, Surface drawable, void (*real)(Display, Surface)) {
  swap(Platform::kGlx, display, drawable, real, [=] { return real(display, drawable), Boolean{1}; });
}

std::int64_t corun_gl_on_glXSwapBuffersMscOML(Display display, Surface drawable, std::int64_t target,
                                              std::int64_t divisor, std::int64_t remainder,
                                              std::int64_t (*real)(Display, Surface, std::int64_t, std::int64_t,
                                                                   std::int64_t)) {
  std::int64_t count = -1;
  swap(Platform::kGlx, display, drawable, real, [&] {
    count = real(display, drawable, target, divisor, remainder);
    return Boolean{count >= 0};
  });
  return count;
}

void corun_gl_on_glFlush(void (*real)()) { submit(false, real); }
void corun_gl_on_glFinish(void (*real)()) { submit(true, real); }

void corun_gl_on_glNewList(unsigned list, unsigned mode, void (*real)(unsigned, unsigned)) {
  const Passage passage;
  if (!passage.is_nested()) corun_gl_thread.is_compiling = true;
  real(list, mode);
}

void corun_gl_on_glEndList(void (*real)()) {
  const Passage passage;
  real();
  if (!passage.is_nested()) corun_gl_thread.is_compiling = false;
}

Boolean corun_gl_on_eglMakeCurrent(Display display, Surface draw, Surface read, ContextHandle context,
                                   Boolean (*real)(Display, Surface, Surface, ContextHandle)) {
  return change_current(Platform::kEgl, display, draw, context, [=] { return real(display, draw, read, context); });
}

Boolean corun_gl_on_glXMakeCurrent(Display display, Surface drawable, ContextHandle context,
                                   Boolean (*real)(Display, Surface, ContextHandle)) {
  return change_current(Platform::kGlx, display, drawable, context, [=] { return real(display, drawable, context); });
}

Boolean corun_gl_on_glXMakeContextCurrent(Display display, Surface draw, Surface read, ContextHandle context,
                                          Boolean (*real)(Display, Surface, Surface, ContextHandle)) {
  return change_current(Platform::kGlx, display, draw, context, [=] { return real(display, draw, read, context); });
}

Boolean corun_gl_on_glXMakeCurrentReadSGI(Display display, Surface draw, Surface read, ContextHandle context,
                                          Boolean (*real)(Display, Surface, Surface, ContextHandle)) {
  return corun_gl_on_glXMakeContextCurrent(display, draw, read, context, real);
}

Boolean corun_gl_on_eglReleaseThread(Boolean (*real)()) {
  return change_current(Platform::kEgl, nullptr, 0, nullptr, real);
}

Boolean corun_gl_on_eglDestroyContext(Display display, ContextHandle context, Boolean (*real)(Display, ContextHandle)) {
  Boolean is_done = 0;
  destroy(Platform::kEgl, display, context, [&] { is_done = real(display, context); });
  return is_done;
}

Boolean corun_gl_on_eglTerminate(Display display, Boolean (*real)(Display)) {
  Boolean is_done = 0;
  destroy(Platform::kEgl, display, nullptr, [&] { is_done = real(display); });
  return is_done;
}

void corun_gl_on_glXDestroyContext(Display display, ContextHandle context, void (*real)(Display, ContextHandle)) {
  destroy(Platform::kGlx, display, context, [=] { real(display, context); });
}

using GetProcAddress = void*(const char* name);

void* corun_gl_on_eglGetProcAddress(const char* name, GetProcAddress* real) {
  return wrap(name, real(name), reinterpret_cast<const void*>(real));
}

void* corun_gl_on_glXGetProcAddress(const char* name, GetProcAddress* real) {
  return wrap(name, real(name), reinterpret_cast<const void*>(real));
}

void* corun_gl_on_glXGetProcAddressARB(const char* name, GetProcAddress* real) {
  return wrap(name, real(name), reinterpret_cast<const void*>(real));
}
}

}  // namespace corun::gl

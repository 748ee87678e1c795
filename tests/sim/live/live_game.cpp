// A game without a screen: a frame every 16 ms, of some milliseconds on whatever renders it, until a signal ends it.
//
//   live_game [by_dlsym]
//
// by_dlsym: it shows frames by a function that dlsym() has found, as games on SDL do.
#define EGL_NO_X11
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <GL/gl.h>
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kSide = 256, kLayers = 10;
constexpr EGLenum kSurfaceless = 0x31DD;
std::atomic<bool> is_to_end{false};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

EGLSurface open_surface(EGLDisplay display) {
  eglInitialize(display, nullptr, nullptr);
  eglBindAPI(EGL_OPENGL_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  eglChooseConfig(display, wanted, &config, 1, &count);
  const EGLint size[] = {EGL_WIDTH, kSide, EGL_HEIGHT, kSide, EGL_NONE};
  EGLSurface surface = eglCreatePbufferSurface(display, config, size);
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, nullptr);
  if (count == 0 || eglMakeCurrent(display, surface, surface, context) == 0) std::exit(3);
  return surface;
}

void draw() {
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  for (int i = 0; i < kLayers; ++i) {
    glColor4f(0.5F, 0.2F, 0.1F, 0.1F);
    glRectf(-1, -1, 1, 1);
  }
}

using SwapBuffers = EGLBoolean (*)(EGLDisplay, EGLSurface);
SwapBuffers found_by_dlsym() {
  void* library = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : dlsym(library, "eglSwapBuffers");
  if (found == nullptr) std::exit(3);
  return reinterpret_cast<SwapBuffers>(found);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(120);  // whatever becomes of the test
  signal(SIGTERM, [](int) { is_to_end = true; });
  EGLDisplay display = eglGetPlatformDisplay(kSurfaceless, nullptr, nullptr);
  EGLSurface surface = open_surface(display);
  const SwapBuffers show = argc > 1 && std::string_view(argv[1]) == "by_dlsym" ? found_by_dlsym() : eglSwapBuffers;
  int frames = 0;
  for (std::int64_t next = now_ns(); !is_to_end; ++frames) {
    draw();
    show(display, surface);
    glFinish();
    next += 16'000'000;
    const std::int64_t left = next - now_ns();
    const timespec pause{0, left > 0 ? static_cast<long>(left) : 0};
    if (left > 0) nanosleep(&pause, nullptr);
  }
  std::fprintf(stderr, "showed %d frames\n", frames);
  return 0;
}

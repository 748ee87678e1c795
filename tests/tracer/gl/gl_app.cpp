// A program that draws without a screen, in each of the ways in which programs get at GL, and says what came of it: the
// same lines whether or not it is traced. Ends with 9, so that an exit code is seen to pass.
//
//   gl_app linked|dlsym|procaddr FRAMES FLUSHES [finish] [elapsed] [contexts] [threads] [fork] [list] [es] [error]
//   [loader] [inside] [passes]

#define EGL_NO_X11
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

constexpr int kSide = 64;

// clang-format off
#define EGL_CALLS(X)                                                                                            \
  X(eglInitialize) X(eglBindAPI) X(eglChooseConfig) X(eglCreateContext) X(eglCreatePbufferSurface)               \
  X(eglMakeCurrent) X(eglSwapBuffers) X(eglDestroyContext) X(eglTerminate) X(eglGetError)                        \
  X(eglGetPlatformDisplay) X(eglGetProcAddress)
#define GL_CALLS(X)                                                                                             \
  X(glClear) X(glClearColor) X(glScissor) X(glEnable) X(glFlush) X(glFinish) X(glReadPixels) X(glGetError)       \
  X(glGenQueries) X(glBeginQuery) X(glEndQuery) X(glGetQueryObjectui64v) X(glBegin) X(glEnd) X(glVertex2f)       \
  X(glColor3f) X(glGenLists) X(glNewList) X(glEndList) X(glCallList) X(glGenBuffers) X(glBindBuffer)             \
  X(glBufferData) X(glGetBufferSubData) X(glBindFramebuffer)
// clang-format on

struct Functions {
#define FIELD(name) decltype(&::name) name = nullptr;
  EGL_CALLS(FIELD) GL_CALLS(FIELD)
#undef FIELD
};
Functions f;

struct Wishes {
  std::string load;
  int frames = 0, flushes = 0;
  bool finish = false, elapsed = false, contexts = false, threads = false, fork = false, list = false, es = false;
  bool error = false, loader = false, buffer = false, inside = false, passes = false;
};
Wishes wishes;

void need(bool is_good, const char* what) {
  if (is_good) return;
  printf("cannot: %s\n", what);
  exit(3);
}

void load_linked() {
#define TAKE(name) f.name = &::name;
  EGL_CALLS(TAKE) GL_CALLS(TAKE)
#undef TAKE
}

void load_by(const std::string& way) {
  void* egl = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
  void* gl = dlopen("libGL.so.1", RTLD_LAZY | RTLD_LOCAL);
  need(egl != nullptr && gl != nullptr, "libEGL.so.1 and libGL.so.1");
  using GetProcAddress = void* (*)(const char*);
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(egl, "eglGetProcAddress"));
  const bool by_dlsym = way == "dlsym";
#define TAKE(name) f.name = reinterpret_cast<decltype(f.name)>(dlsym(egl, #name));
  EGL_CALLS(TAKE)
#undef TAKE
#define TAKE(name) f.name = reinterpret_cast<decltype(f.name)>(by_dlsym ? dlsym(gl, #name) : get(#name));
  GL_CALLS(TAKE)
#undef TAKE
  need(dlsym(gl, "glNoSuchFunction") == nullptr && dlerror() != nullptr, "a missing symbol to be missing");
}

struct Canvas {
  EGLDisplay display = nullptr;
  EGLSurface surface = nullptr;
  EGLContext context = nullptr;
  GLuint query = 0, list = 0;
};

EGLDisplay open_display() {
  constexpr EGLenum kSurfaceless = 0x31DD, kDevice = 0x313F;
  using QueryDevices = EGLBoolean (*)(EGLint most, void** devices, EGLint* count);
  EGLDisplay display = f.eglGetPlatformDisplay(kSurfaceless, nullptr, nullptr);
  if (display != nullptr && f.eglInitialize(display, nullptr, nullptr)) return display;
  const auto query = reinterpret_cast<QueryDevices>(f.eglGetProcAddress("eglQueryDevicesEXT"));
  void* device = nullptr;
  EGLint count = 0;
  need(query != nullptr && query(1, &device, &count) && count == 1, "a device");
  display = f.eglGetPlatformDisplay(kDevice, device, nullptr);
  need(display != nullptr && f.eglInitialize(display, nullptr, nullptr), "a display");
  return display;
}

Canvas open_canvas(EGLDisplay display) {
  const EGLint api = wishes.es ? EGL_OPENGL_ES2_BIT : EGL_OPENGL_BIT;
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, api, EGL_RED_SIZE, 8, EGL_NONE};
  const EGLint size[] = {EGL_WIDTH, kSide, EGL_HEIGHT, kSide, EGL_NONE};
  const EGLint es[] = {EGL_CONTEXT_MAJOR_VERSION, 2, EGL_NONE};
  f.eglBindAPI(wishes.es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
  EGLConfig config = nullptr;
  EGLint count = 0;
  need(f.eglChooseConfig(display, wanted, &config, 1, &count) && count == 1, "a config");
  Canvas canvas{display, f.eglCreatePbufferSurface(display, config, size),
                f.eglCreateContext(display, config, nullptr, wishes.es ? es : nullptr)};
  need(canvas.surface != nullptr && canvas.context != nullptr, "a context");
  return canvas;
}

void enter(const Canvas& canvas) {
  need(f.eglMakeCurrent(canvas.display, canvas.surface, canvas.surface, canvas.context), "make current");
}

void draw(const Canvas& canvas, int frame, int part) {
  f.glEnable(GL_SCISSOR_TEST);
  f.glScissor(part, frame % kSide, kSide - part, kSide / 2);
  f.glClearColor(static_cast<float>(frame % 7) / 7, static_cast<float>(part % 5) / 5, 0.25F, 1);
  f.glClear(GL_COLOR_BUFFER_BIT);
  if (wishes.es) return;
  if (canvas.list != 0) f.glCallList(canvas.list);
  if (wishes.passes) f.glBindFramebuffer(GL_FRAMEBUFFER, 0);
  f.glBegin(GL_TRIANGLES);
  f.glColor3f(1, static_cast<float>(part) / 8, 0);
  f.glVertex2f(-1, -1), f.glVertex2f(1, -1), f.glVertex2f(0, 1);
  if (wishes.inside) f.glCallList(0);
  f.glEnd();
}

// A thread that uploads: it submits work and shows nothing.
void* load_something(void* argument) {
  const auto& canvas = *static_cast<Canvas*>(argument);
  enter(canvas);
  for (int part = 0; part < 3; ++part) {
    draw(canvas, 0, part);
    f.glFlush();
  }
  f.eglMakeCurrent(canvas.display, nullptr, nullptr, nullptr);
  return nullptr;
}

// In the middle of the second frame, when a tracer may have a visit open or may want one.
void compile_list(Canvas& canvas) {
  canvas.list = f.glGenLists(1);
  f.glNewList(canvas.list, GL_COMPILE);
  f.glFlush();
  f.glBegin(GL_POINTS);
  f.glVertex2f(0.5F, 0.5F);
  f.glEnd();
  f.glEndList();
}

void draw_frame(Canvas& canvas, int frame) {
  if (wishes.elapsed) f.glBeginQuery(GL_TIME_ELAPSED, canvas.query);
  for (int part = 0; part < wishes.flushes; ++part) {
    draw(canvas, frame, part);
    if (wishes.list && frame == 1 && part == 0) compile_list(canvas);
    if (wishes.finish) {
      f.glFinish();
    } else {
      f.glFlush();
    }
  }
  draw(canvas, frame, wishes.flushes);
  if (wishes.elapsed) f.glEndQuery(GL_TIME_ELAPSED);
  if (wishes.error && frame == 1) f.glEnable(0xBAD);
  need(f.eglSwapBuffers(canvas.display, canvas.surface), "swap");
}

uint64_t checksum() {
  std::vector<unsigned char> pixels(kSide * kSide * 4);
  f.glReadPixels(0, 0, kSide, kSide, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  uint64_t sum = 14695981039346656037U;
  for (const unsigned char byte : pixels) sum = (sum ^ byte) * 1099511628211U;
  return sum;
}

// The program's own results of queries are to go to this buffer, and no others.
void bind_query_buffer() {
  const std::vector<unsigned char> zeros(4096);
  GLuint buffer = 0;
  f.glGenBuffers(1, &buffer);
  f.glBindBuffer(GL_QUERY_BUFFER, buffer);
  f.glBufferData(GL_QUERY_BUFFER, 4096, zeros.data(), GL_STREAM_READ);
}

bool is_query_buffer_clean() {
  std::vector<unsigned char> bytes(4096);
  f.glGetBufferSubData(GL_QUERY_BUFFER, 0, 4096, bytes.data());
  f.glBindBuffer(GL_QUERY_BUFFER, 0);
  return bytes == std::vector<unsigned char>(4096);
}

std::string say_result(const Canvas& canvas, const char* who) {
  char line[160];
  GLuint64 elapsed = 0;
  if (wishes.buffer) need(is_query_buffer_clean(), "a clean buffer");
  if (wishes.elapsed) f.glGetQueryObjectui64v(canvas.query, GL_QUERY_RESULT, &elapsed);
  snprintf(line, sizeof(line), "%s pixels %016llx own query %s gl error %x egl error %x\n", who,
           static_cast<unsigned long long>(checksum()), elapsed > 0 ? "good" : "none", f.glGetError(), f.eglGetError());
  return line;
}

// With two threads: neither shows its second frame before both have shown the first, whichever is the faster.
pthread_barrier_t both_have_shown;

struct Part {
  std::vector<Canvas> canvases;
  const char* who;
  std::string result;
  Canvas loader = {};
};

void* run(void* argument) {
  auto* part = static_cast<Part*>(argument);
  for (Canvas& canvas : part->canvases) {
    enter(canvas);
    if (wishes.elapsed) f.glGenQueries(1, &canvas.query);
    if (wishes.buffer) bind_query_buffer();
  }
  for (int frame = 0; frame < wishes.frames; ++frame) {
    for (Canvas& canvas : part->canvases) {
      if (part->canvases.size() > 1) enter(canvas);
      draw_frame(canvas, frame);
    }
    if (wishes.threads && frame == 0) pthread_barrier_wait(&both_have_shown);
    if (wishes.loader && frame == 4) {
      pthread_t thread{};
      pthread_create(&thread, nullptr, &load_something, &part->loader);
      pthread_join(thread, nullptr);
    }
    if (wishes.fork && frame == wishes.frames / 2) {
      const pid_t child = fork();
      if (child == 0) {
        f.glFlush();
        _exit(0);
      }
      int status = 0;
      need(waitpid(child, &status, 0) == child && WIFEXITED(status), "an orderly child");
    }
  }
  for (Canvas& canvas : part->canvases) {
    enter(canvas);
    part->result += say_result(canvas, part->who);
  }
  return nullptr;
}

Wishes read_wishes(int count, char** words) {
  Wishes result;
  if (count < 4) exit(2);
  result.load = words[1];
  result.frames = atoi(words[2]);
  result.flushes = atoi(words[3]);
  for (int i = 4; i < count; ++i) {
    const std::string word = words[i];
    result.finish |= word == "finish";
    result.elapsed |= word == "elapsed";
    result.contexts |= word == "contexts";
    result.threads |= word == "threads";
    result.fork |= word == "fork";
    result.list |= word == "list";
    result.es |= word == "es";
    result.error |= word == "error";
    result.loader |= word == "loader";
    result.buffer |= word == "buffer";
    result.inside |= word == "inside";
    result.passes |= word == "passes";
  }
  return result;
}

}  // namespace

int main(int count, char** words) {
  wishes = read_wishes(count, words);
  if (wishes.load == "linked") {
    load_linked();
  } else {
    load_by(wishes.load);
  }
  need(dlsym(RTLD_NEXT, "malloc") != nullptr && dlsym(RTLD_DEFAULT, "malloc") != nullptr, "malloc by dlsym");
  const EGLDisplay display = open_display();
  Part parts[2] = {{{open_canvas(display)}, "first", ""}, {{}, "second", ""}};
  if (wishes.contexts) parts[0].canvases.push_back(open_canvas(display));
  if (wishes.loader) parts[0].loader = open_canvas(display);
  pthread_t other{};
  if (wishes.threads) {
    parts[1].canvases.push_back(open_canvas(display));
    pthread_barrier_init(&both_have_shown, nullptr, 2);
    pthread_create(&other, nullptr, &run, &parts[1]);
  }
  run(&parts[0]);
  if (wishes.threads) pthread_join(other, nullptr);
  printf("%s%s", parts[0].result.c_str(), parts[1].result.c_str());
  f.eglMakeCurrent(display, nullptr, nullptr, nullptr);
  for (const Part& part : parts) {
    for (const Canvas& canvas : part.canvases) f.eglDestroyContext(display, canvas.context);
  }
  f.eglTerminate(display);
  return 9;
}

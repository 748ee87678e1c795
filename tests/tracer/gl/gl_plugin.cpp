// A plug-in that draws by a GL that only it links.

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

extern "C" void glClear(unsigned mask);
extern "C" void glFlush();
extern "C" unsigned eglSwapBuffers(void* display, void* surface);

namespace {

const char* word(const void* found) { return found == nullptr ? "nothing" : "something"; }

void draw_by_default_scope() {
  const auto clear = reinterpret_cast<void (*)(unsigned)>(dlsym(RTLD_DEFAULT, "glClear"));
  printf("dlerror behind glClear: %s\n", word(dlerror()));
  if (clear != nullptr) clear(7);
  printf("glDrawArrays: %s\n", word(dlsym(RTLD_DEFAULT, "glDrawArrays")));
  printf("dlerror behind glDrawArrays: %s\n", word(dlerror()));
  const auto get = reinterpret_cast<void* (*)(const char*)>(dlsym(RTLD_DEFAULT, "eglGetProcAddress"));
  printf("glFlush by eglGetProcAddress: %s\n", word(get("glFlush")));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void draw() {
  int here = 0;
  for (unsigned i = 0; i < 3; ++i) glClear(i);
  errno = 77;
  const unsigned is_shown = eglSwapBuffers(&here, &here);
  printf("shown %u, errno %d\n", is_shown, errno);
  draw_by_default_scope();
}

// The flush returns to the caller of this.
extern "C" __attribute__((visibility("default"))) void flush() { return glFlush(); }

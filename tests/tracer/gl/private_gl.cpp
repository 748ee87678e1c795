// A private GL, as programs bring one along: says which one it is (WHICH) and what was called.

#include <stdio.h>
#include <string.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void glClear(unsigned mask) { printf(WHICH " glClear %u\n", mask); }
EXPORTED void glFlush() { printf(WHICH " glFlush\n"); }
EXPORTED unsigned eglSwapBuffers(void* display, void* surface) {
  printf(WHICH " eglSwapBuffers %d %d\n", display != nullptr, surface != nullptr);
  return 1;
}

// The functions as this library's own calls get them.
EXPORTED void* eglGetProcAddress(const char* name) {
  return reinterpret_cast<void*>(strcmp(name, "glFlush") == 0 ? &glFlush : nullptr);
}

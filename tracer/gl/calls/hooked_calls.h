#pragma once

/// Functions that hooks.cpp stands before. Each line names the function and the first argument register that it leaves
/// free: in it the way in (stubs.cpp) hands the hook a pointer to the function that was meant.
#define CORUN_GL_HOOKED_CALLS(X)     \
  X(eglSwapBuffers, rdx)             \
  X(eglSwapBuffersWithDamageEXT, r8) \
  X(eglSwapBuffersWithDamageKHR, r8) \
  X(glXSwapBuffers, rdx)             \
  X(glXSwapBuffersMscOML, r9)        \
  X(glFlush, rdi)                    \
  X(glFinish, rdi)                   \
  X(glNewList, rdx)                  \
  X(glEndList, rdi)                  \
  X(eglMakeCurrent, r8)              \
  X(glXMakeCurrent, rcx)             \
  X(glXMakeContextCurrent, r8)       \
  X(glXMakeCurrentReadSGI, r8)       \
  X(eglReleaseThread, rdi)           \
  X(eglDestroyContext, rdx)          \
  X(eglTerminate, rsi)               \
  X(glXDestroyContext, rdx)          \
  X(eglGetProcAddress, rsi)          \
  X(glXGetProcAddress, rsi)          \
  X(glXGetProcAddressARB, rsi)

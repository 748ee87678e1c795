#pragma once

#include <cstdint>

namespace corun::executor {

// Types of EGL's and OpenGL's own binary interfaces: building needs no headers of theirs.
using EglHandle = void*;

#define CORUN_EGL_CALLS(X)                                                                                            \
  X(get_proc_address, "eglGetProcAddress", void*, (const char* name))                                                 \
  X(initialize, "eglInitialize", unsigned, (EglHandle display, int* major, int* minor))                               \
  X(bind_api, "eglBindAPI", unsigned, (unsigned api))                                                                 \
  X(choose_config, "eglChooseConfig", unsigned,                                                                       \
    (EglHandle display, const int* wanted, EglHandle* configs, int most, int* count))                                 \
  X(create_context, "eglCreateContext", EglHandle,                                                                    \
    (EglHandle display, EglHandle config, EglHandle share, const int* attributes))                                    \
  X(make_current, "eglMakeCurrent", unsigned, (EglHandle display, EglHandle draw, EglHandle read, EglHandle context)) \
  X(terminate, "eglTerminate", unsigned, (EglHandle display))

#define CORUN_GL_CALLS(X)                                                                                            \
  X(get_string, "glGetString", const char*, (unsigned name))                                                         \
  X(get_integer, "glGetInteger64v", void, (unsigned name, std::int64_t* value))                                      \
  X(create_shader, "glCreateShader", unsigned, (unsigned kind))                                                      \
  X(shader_source, "glShaderSource", void, (unsigned shader, int count, const char* const* texts, const int* sizes)) \
  X(compile_shader, "glCompileShader", void, (unsigned shader))                                                      \
  X(create_program, "glCreateProgram", unsigned, ())                                                                 \
  X(attach_shader, "glAttachShader", void, (unsigned program, unsigned shader))                                      \
  X(link_program, "glLinkProgram", void, (unsigned program))                                                         \
  X(get_program, "glGetProgramiv", void, (unsigned program, unsigned what, int* value))                              \
  X(use_program, "glUseProgram", void, (unsigned program))                                                           \
  X(uniform_location, "glGetUniformLocation", int, (unsigned program, const char* name))                             \
  X(uniform, "glUniform1i", void, (int location, int value))                                                         \
  X(gen_textures, "glGenTextures", void, (int count, unsigned* names))                                               \
  X(bind_texture, "glBindTexture", void, (unsigned target, unsigned name))                                           \
  X(texture_storage, "glTexStorage2D", void, (unsigned target, int levels, unsigned format, int width, int height))  \
  X(gen_framebuffers, "glGenFramebuffers", void, (int count, unsigned* names))                                       \
  X(bind_framebuffer, "glBindFramebuffer", void, (unsigned target, unsigned name))                                   \
  X(framebuffer_texture, "glFramebufferTexture2D", void,                                                             \
    (unsigned target, unsigned attachment, unsigned textarget, unsigned texture, int level))                         \
  X(framebuffer_status, "glCheckFramebufferStatus", unsigned, (unsigned target))                                     \
  X(gen_vertex_arrays, "glGenVertexArrays", void, (int count, unsigned* names))                                      \
  X(bind_vertex_array, "glBindVertexArray", void, (unsigned name))                                                   \
  X(viewport, "glViewport", void, (int x, int y, int width, int height))                                             \
  X(draw_arrays, "glDrawArrays", void, (unsigned mode, int first, int count))                                        \
  X(gen_queries, "glGenQueries", void, (int count, unsigned* names))                                                 \
  X(query_counter, "glQueryCounter", void, (unsigned query, unsigned target))                                        \
  X(query_available, "glGetQueryObjectiv", void, (unsigned query, unsigned what, int* value))                        \
  X(query_result, "glGetQueryObjectui64v", void, (unsigned query, unsigned what, std::uint64_t* value))              \
  X(flush, "glFlush", void, ())                                                                                      \
  X(finish, "glFinish", void, ())

/// EGL and, once a context is current, OpenGL: found at run time.
struct GraphicsDriver {
  /// Loads libEGL.so.1. Throws Error(kUnsupported) where there is none.
  GraphicsDriver();
  /// A display without a screen: of the device that CUDA has under this number, else the first that EGL offers, else
  /// Mesa's surfaceless platform. Throws Error(kUnsupported) where there is none.
  EglHandle open_display(int cuda_device) const;
  /// Finds the functions of OpenGL. Throws Error(kUnsupported) naming the first that is missing.
  void find_gl();

#define CORUN_GRAPHICS_FIELD(name, exported, result, arguments) result(*name) arguments = nullptr;
  CORUN_EGL_CALLS(CORUN_GRAPHICS_FIELD)
  CORUN_GL_CALLS(CORUN_GRAPHICS_FIELD)
#undef CORUN_GRAPHICS_FIELD
};

}  // namespace corun::executor

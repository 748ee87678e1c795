#pragma once

#define EGL_NO_X11
#define EGL_EGLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>

namespace scene {

#define SCENE_EGL_CALLS(X) \
  X(BindAPI)               \
  X(ChooseConfig)          \
  X(CreateContext)         \
  X(CreatePbufferSurface)  \
  X(GetProcAddress)        \
  X(Initialize)            \
  X(MakeCurrent)           \
  X(SwapBuffers)

#define SCENE_GL_CALLS(X)           \
  X(ActiveTexture)                  \
  X(AttachShader)                   \
  X(BindBuffer)                     \
  X(BindBufferBase)                 \
  X(BindFramebuffer)                \
  X(BindRenderbuffer)               \
  X(BindTexture)                    \
  X(BindVertexArray)                \
  X(BlitFramebuffer)                \
  X(BufferData)                     \
  X(CheckFramebufferStatus)         \
  X(Clear)                          \
  X(ClearColor)                     \
  X(ClientWaitSync)                 \
  X(CompileShader)                  \
  X(CreateProgram)                  \
  X(CreateShader)                   \
  X(DeleteFramebuffers)             \
  X(DeleteRenderbuffers)            \
  X(DeleteSync)                     \
  X(DeleteTextures)                 \
  X(Disable)                        \
  X(DrawArrays)                     \
  X(DrawBuffer)                     \
  X(DrawElements)                   \
  X(Enable)                         \
  X(EnableVertexAttribArray)        \
  X(FenceSync)                      \
  X(Finish)                         \
  X(Flush)                          \
  X(FramebufferRenderbuffer)        \
  X(FramebufferTexture2D)           \
  X(FramebufferTextureLayer)        \
  X(GenBuffers)                     \
  X(GenFramebuffers)                \
  X(GenQueries)                     \
  X(GenRenderbuffers)               \
  X(GenTextures)                    \
  X(GenVertexArrays)                \
  X(GetError)                       \
  X(GetProgramiv)                   \
  X(GetProgramInfoLog)              \
  X(GetQueryObjectui64v)            \
  X(GetString)                      \
  X(GetUniformBlockIndex)           \
  X(GetUniformLocation)             \
  X(LinkProgram)                    \
  X(PixelStorei)                    \
  X(PolygonOffset)                  \
  X(QueryCounter)                   \
  X(ReadBuffer)                     \
  X(ReadPixels)                     \
  X(RenderbufferStorageMultisample) \
  X(ShaderSource)                   \
  X(TexImage2D)                     \
  X(TexImage3D)                     \
  X(TexParameteri)                  \
  X(Uniform1f)                      \
  X(Uniform1i)                      \
  X(Uniform2f)                      \
  X(Uniform3fv)                     \
  X(Uniform4fv)                     \
  X(UniformBlockBinding)            \
  X(UniformMatrix4fv)               \
  X(UseProgram)                     \
  X(VertexAttribPointer)            \
  X(Viewport)

/// Functions of EGL, found in libEGL.so.1 at run time; named as there, without the prefix.
struct Egl {
  /// Throws Failure where there is no EGL.
  Egl();

#define SCENE_EGL_FIELD(name) decltype(&egl##name) name = nullptr;
  SCENE_EGL_CALLS(SCENE_EGL_FIELD)
#undef SCENE_EGL_FIELD
};

/// Functions of OpenGL 3.3, found through EGL; named as there, without the prefix. For the thread with the context.
struct Gl {
  /// Throws Failure naming the first that is missing.
  explicit Gl(const Egl& egl);

#define SCENE_GL_FIELD(name) decltype(&gl##name) name = nullptr;
  SCENE_GL_CALLS(SCENE_GL_FIELD)
#undef SCENE_GL_FIELD
};

}  // namespace scene

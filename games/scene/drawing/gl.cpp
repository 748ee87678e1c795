#include "games/scene/drawing/gl.h"

#include <dlfcn.h>

#include "games/scene/world/failure.h"

namespace scene {

Egl::Egl() {
  void* library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Failure(kUnsupported, std::string("no EGL: ") + dlerror() +
                                    "; install libegl1 and the EGL of the GPU's driver, or libegl-mesa0");
#define SCENE_EGL_FIND(name)                                            \
  name = reinterpret_cast<decltype(name)>(dlsym(library, "egl" #name)); \
  if (name == nullptr) throw Failure(kUnsupported, "libEGL.so.1 has no egl" #name ": expected EGL 1.4 or later");
  SCENE_EGL_CALLS(SCENE_EGL_FIND)
#undef SCENE_EGL_FIND
}

Gl::Gl(const Egl& egl) {
#define SCENE_GL_FIND(name)                                                \
  name = reinterpret_cast<decltype(name)>(egl.GetProcAddress("gl" #name)); \
  if (name == nullptr) throw Failure(kUnsupported, "this OpenGL has no gl" #name ": expected OpenGL 3.3 or later");
  SCENE_GL_CALLS(SCENE_GL_FIND)
#undef SCENE_GL_FIND
}

}  // namespace scene

#pragma once

#include <optional>
#include <string>

#include "games/scene/drawing/gl.h"
#include "games/scene/world/level.h"

namespace scene {

/// A picture that is not shown: an EGL pixel buffer with a context of OpenGL 3.3 core, current in the thread that made
/// it. Nothing is given back to the driver at the end: the process ends with it.
class Screen {
 public:
  /// On the GPU that CUDA has under this number or, where EGL does not know CUDA's numbers, EGL's device of this
  /// number; without a number on EGL's first device, else on Mesa's surfaceless platform. Throws Failure.
  Screen(Size size, std::optional<int> device);

  const Gl& gl() const { return gl_; }
  std::string renderer() const;
  /// Submits what was drawn and shows it.
  void show() const;

 private:
  Egl egl_;
  EGLDisplay display_;
  EGLSurface surface_;
  Gl gl_;
};

}  // namespace scene

#pragma once

#include "games/scene/drawing/gl.h"
#include "games/scene/world/world.h"

namespace scene {

/// The triangles of every shape, in the device's memory.
class Meshes {
 public:
  explicit Meshes(const Gl& gl);
  void bind() const { gl_.BindVertexArray(vertices_); }
  /// One draw call; needs bind() before it.
  void draw(Shape shape) const;

 private:
  struct Range {
    GLsizei count = 0;
    std::size_t first = 0;
  };

  const Gl& gl_;
  GLuint vertices_ = 0;
  Range box_, ball_;
};

}  // namespace scene

#pragma once

#include <initializer_list>

#include "games/scene/drawing/gl.h"
#include "games/scene/world/matrix.h"

namespace scene {

/// A program of the pipeline with its uniforms by name. Setting one needs use() before it.
class Program {
 public:
  /// Throws Failure with what the driver says of the text.
  Program(const Gl& gl, const char* vertex_text, const char* fragment_text);

  void use() const { gl_.UseProgram(name_); }
  int place_of(const char* uniform) const;
  void set(const char* uniform, int value) const { gl_.Uniform1i(place_of(uniform), value); }
  void set(const char* uniform, float x, float y) const { gl_.Uniform2f(place_of(uniform), x, y); }
  void set(const char* uniform, Vector value) const { gl_.Uniform3fv(place_of(uniform), 1, &value.x); }
  void set(const char* uniform, const Matrix& value) const { set(place_of(uniform), value); }
  void set(int place, const Matrix& value) const { gl_.UniformMatrix4fv(place, 1, GL_FALSE, value.data()); }
  /// Binds a block of uniforms to binding 0.
  void take_block(const char* block) const;

 private:
  const Gl& gl_;
  GLuint name_;
};

}  // namespace scene

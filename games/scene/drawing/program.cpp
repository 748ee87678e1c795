#include "games/scene/drawing/program.h"

#include <utility>

#include "games/scene/world/failure.h"

namespace scene {

Program::Program(const Gl& gl, const char* vertex_text, const char* fragment_text)
    : gl_(gl), name_(gl.CreateProgram()) {
  for (const auto& [kind, text] :
       {std::pair{GL_VERTEX_SHADER, vertex_text}, std::pair{GL_FRAGMENT_SHADER, fragment_text}}) {
    const GLuint shader = gl.CreateShader(kind);
    gl.ShaderSource(shader, 1, &text, nullptr);
    gl.CompileShader(shader);
    gl.AttachShader(name_, shader);
  }
  gl.LinkProgram(name_);
  GLint is_linked = 0;
  gl.GetProgramiv(name_, GL_LINK_STATUS, &is_linked);
  if (is_linked != 0) return;
  char said[512] = "";
  gl.GetProgramInfoLog(name_, sizeof said, nullptr, said);
  throw Failure(kUnsupported, std::string("this OpenGL does not take the shaders: ") + said);
}

int Program::place_of(const char* uniform) const { return gl_.GetUniformLocation(name_, uniform); }

void Program::take_block(const char* block) const {
  gl_.UniformBlockBinding(name_, gl_.GetUniformBlockIndex(name_, block), 0);
}

}  // namespace scene

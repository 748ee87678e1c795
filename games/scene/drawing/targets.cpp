#include "games/scene/drawing/targets.h"

#include "games/scene/world/failure.h"

namespace scene {

Targets::Targets(const Gl& gl, const Level& level, Size shown)
    : gl_(gl), level_(level), size_(rendered_size(level, shown)) {
  GLuint frames[3] = {}, textures[2] = {};
  gl.GenFramebuffers(3, frames);
  shadow_frame_ = frames[0];
  picture_frame_ = frames[1];
  samples_frame_ = frames[2];
  gl.GenTextures(2, textures);
  shadow_maps_ = textures[0];
  picture_ = textures[1];
  gl.GenRenderbuffers(2, buffers_);
  make_shadow_maps();
  make_picture();
  make_samples();
  if (gl.GetError() != GL_NO_ERROR) throw Failure(kUnsupported, "OpenGL has no memory for " + to_string(size_));
}

Targets::~Targets() {
  const GLuint frames[] = {shadow_frame_, picture_frame_, samples_frame_}, textures[] = {shadow_maps_, picture_};
  gl_.DeleteFramebuffers(3, frames);
  gl_.DeleteTextures(2, textures);
  gl_.DeleteRenderbuffers(2, buffers_);
}

void Targets::check(const char* what) const {
  if (gl_.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw Failure(kUnsupported, "this OpenGL does not render into " + std::string(what) + " at " + to_string(size_) +
                                    "; ask for a smaller --size");
}

void Targets::make_shadow_maps() {
  const auto parameter = [&](GLenum name, GLenum value) {
    gl_.TexParameteri(GL_TEXTURE_2D_ARRAY, name, static_cast<GLint>(value));
  };
  gl_.BindTexture(GL_TEXTURE_2D_ARRAY, shadow_maps_);
  gl_.TexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_DEPTH_COMPONENT24, level_.shadow_size, level_.shadow_size,
                 level_.shadow_maps, 0, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, nullptr);
  parameter(GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  parameter(GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  parameter(GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  parameter(GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  parameter(GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  parameter(GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, shadow_frame_);
  gl_.DrawBuffer(GL_NONE);
  gl_.ReadBuffer(GL_NONE);
  gl_.FramebufferTextureLayer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, shadow_maps_, 0, 0);
  check("shadow maps");
}

void Targets::make_picture() {
  gl_.BindTexture(GL_TEXTURE_2D, picture_);
  gl_.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA16F, size_.width, size_.height, 0, GL_RGBA, GL_HALF_FLOAT, nullptr);
  for (GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl_.TexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
  for (GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) gl_.TexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, picture_frame_);
  gl_.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture_, 0);
  check("a picture of 16-bit floating point");
}

void Targets::make_samples() {
  constexpr GLenum kFormats[] = {GL_RGBA16F, GL_DEPTH_COMPONENT24};
  constexpr GLenum kPlaces[] = {GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT};
  gl_.BindFramebuffer(GL_FRAMEBUFFER, samples_frame_);
  for (int i = 0; i < 2; ++i) {
    gl_.BindRenderbuffer(GL_RENDERBUFFER, buffers_[i]);
    gl_.RenderbufferStorageMultisample(GL_RENDERBUFFER, level_.samples > 1 ? level_.samples : 0, kFormats[i],
                                       size_.width, size_.height);
    gl_.FramebufferRenderbuffer(GL_FRAMEBUFFER, kPlaces[i], GL_RENDERBUFFER, buffers_[i]);
  }
  check("several samples a pixel");
}

void Targets::enter_shadow_map(int i) const {
  gl_.BindFramebuffer(GL_FRAMEBUFFER, shadow_frame_);
  gl_.FramebufferTextureLayer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, shadow_maps_, 0, i);
  gl_.Viewport(0, 0, level_.shadow_size, level_.shadow_size);
  gl_.Clear(GL_DEPTH_BUFFER_BIT);
}

void Targets::enter_picture() const {
  gl_.BindFramebuffer(GL_FRAMEBUFFER, samples_frame_);
  gl_.Viewport(0, 0, size_.width, size_.height);
  gl_.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void Targets::resolve() const {
  gl_.BindFramebuffer(GL_READ_FRAMEBUFFER, samples_frame_);
  gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, picture_frame_);
  gl_.BlitFramebuffer(0, 0, size_.width, size_.height, 0, 0, size_.width, size_.height, GL_COLOR_BUFFER_BIT,
                      GL_NEAREST);
}

}  // namespace scene

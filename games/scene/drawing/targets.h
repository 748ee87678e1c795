#pragma once

#include "games/scene/drawing/gl.h"
#include "games/scene/world/level.h"

namespace scene {

/// What one level renders into: shadow maps, the picture with several samples a pixel, the picture.
class Targets {
 public:
  /// Throws Failure where the device has no room for them.
  Targets(const Gl& gl, const Level& level, Size shown);
  ~Targets();
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;

  Size size() const { return size_; }
  GLuint shadow_maps() const { return shadow_maps_; }
  GLuint picture() const { return picture_; }
  /// What follows is drawn into the i-th shadow map, which is cleared.
  void enter_shadow_map(int i) const;
  /// What follows is drawn into the picture, which is cleared.
  void enter_picture() const;
  /// Makes one sample a pixel of what was drawn; the picture can be read now.
  void resolve() const;

 private:
  void make_shadow_maps();
  void make_picture();
  void make_samples();
  void check(const char* what) const;

  const Gl& gl_;
  Level level_;
  Size size_;
  GLuint shadow_maps_ = 0, picture_ = 0, shadow_frame_ = 0, picture_frame_ = 0, samples_frame_ = 0;
  GLuint buffers_[2] = {};  // colours and depths of all samples
};

}  // namespace scene

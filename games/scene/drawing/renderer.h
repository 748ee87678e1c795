#pragma once

#include <memory>

#include "games/scene/drawing/meshes.h"
#include "games/scene/drawing/program.h"
#include "games/scene/drawing/targets.h"

namespace scene {

/// Draws frames of the world at a level: shadow passes, objects with their light, a filter over the picture.
class Renderer {
 public:
  /// Throws Failure. `load` > 0 scales the work in every pixel.
  Renderer(const Gl& gl, Size shown, double load);

  /// Level of the frames to come: an index into kLevels.
  void set_level(std::size_t level);
  std::size_t level() const { return level_; }
  /// Everything but showing it.
  void draw(std::uint64_t frame);

 private:
  void upload_lamps() const;
  void draw_objects(const Program& program, int model_place, int tint_place, const Moment& moment) const;
  void draw_shadows(const Moment& moment) const;
  void draw_picture(const Moment& moment) const;
  void draw_filter() const;

  const Gl& gl_;
  Size shown_;
  double load_;
  Program shadow_, object_, filter_;
  Meshes meshes_;
  std::size_t level_ = kLevels.size();
  Effort effort_{};
  std::unique_ptr<Targets> targets_;
};

}  // namespace scene

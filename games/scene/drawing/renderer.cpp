#include "games/scene/drawing/renderer.h"

#include "games/scene/drawing/shaders.h"

namespace scene {

namespace {

constexpr GLuint kPictureUnit = 0, kShadowUnit = 1;

std::string item(const char* name, int i) { return std::string(name) + "[" + std::to_string(i) + "]"; }

/// From the world to what the i-th sun sees of it.
Matrix view_of_sun(int i) {
  constexpr float kFarthest = 140;
  return orthographic(kHalfSide * 1.45F, kFarthest) * looking(direction_of_sun(i) * (kFarthest / 2), {});
}

}  // namespace

Renderer::Renderer(const Gl& gl, Size shown, double load)
    : gl_(gl),
      shown_(shown),
      load_(load),
      shadow_(gl, kShadowVertexText, kShadowFragmentText),
      object_(gl, kObjectVertexText, kObjectFragmentText),
      filter_(gl, kFilterVertexText, kFilterFragmentText),
      meshes_(gl) {
  upload_lamps();
  gl.Enable(GL_CULL_FACE);
  gl.ClearColor(0.25F, 0.35F, 0.5F, 1);
  gl.PolygonOffset(2, 4);
  filter_.use();
  filter_.set("picture", static_cast<int>(kPictureUnit));
  object_.use();
  object_.take_block("Lamps");
  object_.set("shadows", static_cast<int>(kShadowUnit));
  for (int i = 0; i < kMostShadowMaps; ++i) {
    object_.set(item("sun_views", i).c_str(), view_of_sun(i));
    object_.set(item("suns", i).c_str(), direction_of_sun(i));
  }
}

void Renderer::upload_lamps() const {
  std::vector<std::array<float, 4>> block(2 * kMostLights);
  const std::vector<Lamp> all = lamps(kMostLights);
  for (std::size_t i = 0; i < all.size(); ++i) block[i] = all[i].place, block[kMostLights + i] = all[i].color;
  GLuint buffer = 0;
  gl_.GenBuffers(1, &buffer);
  gl_.BindBuffer(GL_UNIFORM_BUFFER, buffer);
  gl_.BufferData(GL_UNIFORM_BUFFER, static_cast<GLsizeiptr>(block.size() * sizeof block[0]), block.data(),
                 GL_STATIC_DRAW);
  gl_.BindBufferBase(GL_UNIFORM_BUFFER, 0, buffer);
}

void Renderer::set_level(std::size_t level) {
  if (level == level_) return;
  level_ = level;
  effort_ = effort_of(kLevels[level], load_);
  targets_.reset();
  targets_ = std::make_unique<Targets>(gl_, kLevels[level], shown_);
  gl_.ActiveTexture(GL_TEXTURE0 + kPictureUnit);
  gl_.BindTexture(GL_TEXTURE_2D, targets_->picture());
  gl_.ActiveTexture(GL_TEXTURE0 + kShadowUnit);
  gl_.BindTexture(GL_TEXTURE_2D_ARRAY, targets_->shadow_maps());
  object_.use();
  object_.set("lights", effort_.lights);
  object_.set("shadow_maps", kLevels[level].shadow_maps);
  object_.set("shadow_taps", effort_.shadow_taps);
  filter_.use();
  filter_.set("filter_taps", effort_.filter_taps);
  constexpr float kReach = 0.006F;  // of the picture's height
  filter_.set("reach", kReach * static_cast<float>(shown_.height) / static_cast<float>(shown_.width), kReach);
}

void Renderer::draw(std::uint64_t frame) {
  const Moment moment = moment_of(frame);
  gl_.Enable(GL_DEPTH_TEST);
  meshes_.bind();
  draw_shadows(moment);
  draw_picture(moment);
  draw_filter();
}

void Renderer::draw_objects(const Program& program, int model_place, int tint_place, const Moment& moment) const {
  for (const Object& object : moment.objects) {
    program.set(model_place, object.model);
    if (tint_place >= 0) gl_.Uniform4fv(tint_place, 1, object.tint.data());
    meshes_.draw(object.shape);
  }
}

void Renderer::draw_shadows(const Moment& moment) const {
  shadow_.use();
  gl_.Enable(GL_POLYGON_OFFSET_FILL);
  for (int i = 0; i < kLevels[level_].shadow_maps; ++i) {
    targets_->enter_shadow_map(i);
    shadow_.set("view", view_of_sun(i));
    draw_objects(shadow_, shadow_.place_of("model"), -1, moment);
  }
  gl_.Disable(GL_POLYGON_OFFSET_FILL);
}

void Renderer::draw_picture(const Moment& moment) const {
  const float aspect = static_cast<float>(shown_.width) / static_cast<float>(shown_.height);
  targets_->enter_picture();
  object_.use();
  object_.set("view", perspective(0.6F, aspect, 0.3F, 200) * looking(moment.eye, moment.target));
  object_.set("eye", moment.eye);
  draw_objects(object_, object_.place_of("model"), object_.place_of("tint"), moment);
  targets_->resolve();
}

void Renderer::draw_filter() const {
  gl_.BindFramebuffer(GL_FRAMEBUFFER, 0);
  gl_.Viewport(0, 0, shown_.width, shown_.height);
  gl_.Disable(GL_DEPTH_TEST);
  filter_.use();
  gl_.DrawArrays(GL_TRIANGLES, 0, 3);
}

}  // namespace scene

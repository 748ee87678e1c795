#include "games/scene/world/level.h"

#include <algorithm>
#include <cmath>

#include "games/scene/world/world.h"

namespace scene {

namespace {

constexpr int kShadowTaps = 8, kFilterTaps = 16;

int scaled(int count, double load, int most) {
  return static_cast<int>(std::clamp(std::round(count * load), 1.0, static_cast<double>(most)));
}

}  // namespace

std::string to_string(Size size) { return std::to_string(size.width) + "x" + std::to_string(size.height); }

Effort effort_of(const Level& level, double load) {
  constexpr int kMostTaps = 4096;
  return {scaled(level.lights, load, kMostLights), scaled(kShadowTaps, load, kMostTaps),
          scaled(kFilterTaps, load, kMostTaps)};
}

Size rendered_size(const Level& level, Size shown) {
  const auto side = [&](int full) { return std::max(1, static_cast<int>(std::lround(full * level.scale))); };
  return {side(shown.width), side(shown.height)};
}

Work work_of(const Level& level, Size shown, double load) {
  const Effort effort = effort_of(level, load);
  const std::int64_t pixels = rendered_size(level, shown).pixels();
  const int steps = effort.lights + level.shadow_maps * effort.shadow_taps;
  return {kObjects * (1 + level.shadow_maps) + 1, pixels * level.samples,
          std::int64_t{level.shadow_maps} * level.shadow_size * level.shadow_size,
          pixels * steps + shown.pixels() * effort.filter_taps};
}

}  // namespace scene
